import cc.mallet.topics.ParallelTopicModel;
import cc.mallet.types.Alphabet;
import cc.mallet.types.FeatureSequence;
import cc.mallet.types.Instance;
import cc.mallet.types.InstanceList;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.zip.GZIPInputStream;

/**
 * Reads a Gibbs state by MALLET, and says what MALLET holds then.
 *
 * <p>Arguments: the state, and the number of topics. The documents are those of the state. It writes alpha, beta, and for each word a line with the
 * word, the topic and MALLET's count.
 */
public class ReadState {
    public static void main(String[] given) throws Exception {
        ParallelTopicModel.logger.setLevel(Level.OFF);
        int topics = Integer.parseInt(given[1]);
        ParallelTopicModel model = new ParallelTopicModel(topics, topics, 0.5);
        model.addInstances(documents(given[0]));
        model.initializeFromState(new File(given[0]));
        StringBuilder out = new StringBuilder("alpha");
        for (double one : model.alpha) {
            out.append(' ').append(one);
        }
        out.append("\nbeta ").append(model.beta).append('\n');
        for (int word = 0; word < model.typeTopicCounts.length; word++) {
            for (int packed : model.typeTopicCounts[word]) {
                if (packed > 0) {
                    out.append(model.alphabet.lookupObject(word)).append(' ').append(packed & model.topicMask);
                    out.append(' ').append(packed >> model.topicBits).append('\n');
                }
            }
        }
        System.out.print(out);
    }

    private static InstanceList documents(String state) throws Exception {
        Alphabet words = new Alphabet();
        Map<String, StringBuilder> texts = new LinkedHashMap<>();
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(new GZIPInputStream(new FileInputStream(state)), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.startsWith("#")) {
                    String[] fields = line.split(" ");
                    texts.computeIfAbsent(fields[0], name -> new StringBuilder()).append(fields[4]).append(' ');
                }
            }
        }
        InstanceList found = new InstanceList(words, null);
        for (Map.Entry<String, StringBuilder> one : texts.entrySet()) {
            String[] tokens = one.getValue().toString().trim().split(" ");
            int[] numbers = new int[tokens.length];
            for (int i = 0; i < tokens.length; i++) {
                numbers[i] = words.lookupIndex(tokens[i]);
            }
            found.add(new Instance(new FeatureSequence(words, numbers), null, one.getKey(), null));
        }
        return found;
    }
}
