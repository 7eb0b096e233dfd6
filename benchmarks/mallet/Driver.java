import cc.mallet.topics.ParallelTopicModel;
import cc.mallet.topics.TopicInferencer;
import cc.mallet.types.Alphabet;
import cc.mallet.types.FeatureSequence;
import cc.mallet.types.Instance;
import cc.mallet.types.InstanceList;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;

/**
 * Trains MALLET on documents of numbered words, one a line, and says how long it takes: CPU seconds of its one thread.
 *
 * <p>Arguments: training file, topics, alpha (of a topic), beta, sweeps before the clock starts, sweeps in a repetition, repetitions, and, to
 * infer as well, a file of new documents and the iterations. It writes one number a line: the seconds of each repetition, and at last those
 * of the inference.
 */
public class Driver {
    public static void main(String[] given) throws Exception {
        ParallelTopicModel.logger.setLevel(Level.OFF);
        Alphabet words = new Alphabet();
        int topics = Integer.parseInt(given[1]);
        double alpha = Double.parseDouble(given[2]);
        ParallelTopicModel model = new ParallelTopicModel(topics, alpha * topics, Double.parseDouble(given[3]));
        model.setNumThreads(1);
        model.setRandomSeed(1);
        model.setOptimizeInterval(0);
        model.setTopicDisplay(0, 0);
        model.printLogLikelihood = false;
        model.addInstances(read(given[0], words));
        model.setNumIterations(Integer.parseInt(given[4]));
        model.estimate();
        model.setNumIterations(Integer.parseInt(given[5]));
        for (int repetition = 0; repetition < Integer.parseInt(given[6]); repetition++) {
            double start = seconds();
            model.estimate();
            System.out.println(seconds() - start);
        }
        if (given.length > 7) {
            infer(model.getInferencer(), read(given[7], words), Integer.parseInt(given[8]));
        }
    }

    private static void infer(TopicInferencer inferencer, InstanceList documents, int iterations) {
        inferencer.setRandomSeed(1);
        for (int warm = 0; warm < 10; warm++) {
            inferencer.getSampledDistribution(documents.get(warm), iterations, 1, iterations);
        }
        double start = seconds();
        for (Instance document : documents) {
            inferencer.getSampledDistribution(document, iterations, 1, iterations);
        }
        System.out.println(seconds() - start);
    }

    private static InstanceList read(String file, Alphabet words) throws Exception {
        InstanceList documents = new InstanceList(words, null);
        for (String line : Files.readAllLines(Path.of(file))) {
            String[] tokens = line.isEmpty() ? new String[0] : line.split(" ");
            int[] numbers = new int[tokens.length];
            for (int i = 0; i < tokens.length; i++) {
                numbers[i] = words.lookupIndex(tokens[i]);
            }
            documents.add(new Instance(new FeatureSequence(words, numbers), null, "", null));
        }
        return documents;
    }

    private static double seconds() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
    }
}
