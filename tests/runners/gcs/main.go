// Strictgcs is a Cloud Storage server in memory for tests: fake-gcs-server, made to keep the promises that a compare-and-set needs.
//
// By itself that server checks generation preconditions of uploads only. Here they hold for reads, deletes, copies and changes of
// metadata too, and a check and what it guards are one step. A change of metadata raises the metageneration. It also gives the parts of a batch the Content-ID that it needs to answer
// them, and answers /token, so that a made-up service account can log in.
//
//	strictgcs -port 4443    prints "ready" once it listens on 127.0.0.1
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// The object that a request reads or changes: its own, or the target of a copy or a composition. Uploads are left to the server.
var paths = []*regexp.Regexp{
	regexp.MustCompile(`^(?:/download)?/storage/v1/b/([^/]+)/o/([^/]+)$`),
	regexp.MustCompile(`^/storage/v1/b/([^/]+)/o/([^/]+)/compose$`),
	regexp.MustCompile(`^/storage/v1/b/[^/]+/o/[^/]+/(?:copyTo|rewriteTo)/b/([^/]+)/o/([^/]+)$`),
}

// What answers with the numbers of objects: a listing, and a read or a change of one object's metadata.
var metadata = regexp.MustCompile(`^/storage/v1/b/[^/]+/o(?:/[^/]+)?$`)

// content names what an object holds from one upload to the next.
type content struct{ Bucket, Name, Generation string }

// version holds an object's numbers; both are 0 where there is no such object.
type version struct{ Generation, Metageneration int64 }

type strict struct {
	storage http.Handler
	lock    sync.Mutex
	// How often the metadata of a content was changed.
	changes map[content]int64
}

func (s *strict) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/token" {
		answer.Header().Set("Content-Type", "application/json")
		io.WriteString(answer, `{"access_token": "none", "token_type": "Bearer", "expires_in": 3600}`)
		return
	}
	// A slow body is read before the lock is taken.
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	if bytes.HasPrefix([]byte(request.URL.Path), []byte("/batch/")) {
		body = withContentIDs(body)
	}
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.lock.Lock()
	defer s.lock.Unlock()
	if code := s.refusal(request); code != 0 {
		refuse(answer, code)
		return
	}
	if !metadata.MatchString(request.URL.EscapedPath()) || request.URL.Query().Get("alt") == "media" {
		s.storage.ServeHTTP(answer, request)
		return
	}
	record := httptest.NewRecorder()
	s.storage.ServeHTTP(record, request)
	data := record.Body.Bytes()
	var changed content
	if request.Method == http.MethodPatch && record.Code == http.StatusOK && json.Unmarshal(data, &changed) == nil {
		s.changes[changed]++
	}
	for name, values := range record.Header() {
		if name != "Content-Length" {
			answer.Header()[name] = values
		}
	}
	answer.WriteHeader(record.Code)
	answer.Write(s.counted(data))
}

// counted is an answer in which objects have the metageneration that the changes of their metadata give.
func (s *strict) counted(data []byte) []byte {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return data
	}
	s.count(value)
	result, err := json.Marshal(value)
	if err != nil {
		return data
	}
	return result
}

func (s *strict) count(value any) {
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			s.count(inner)
		}
	case map[string]any:
		if _, object := value["metageneration"]; object {
			held := content{fmt.Sprint(value["bucket"]), fmt.Sprint(value["name"]), fmt.Sprint(value["generation"])}
			value["metageneration"] = strconv.FormatInt(1+s.changes[held], 10)
		}
		for _, inner := range value {
			s.count(inner)
		}
	}
}

// refusal is the status of a request whose precondition does not hold, else 0.
func (s *strict) refusal(request *http.Request) int {
	for _, path := range paths {
		if found := path.FindStringSubmatch(request.URL.EscapedPath()); found != nil {
			return check(request, s.current(found[1], found[2]))
		}
	}
	return 0
}

func (s *strict) current(bucket, object string) version {
	answer := httptest.NewRecorder()
	s.storage.ServeHTTP(answer, httptest.NewRequest("GET", "http://127.0.0.1/storage/v1/b/"+bucket+"/o/"+object, nil))
	var texts struct{ Generation, Metageneration string }
	if answer.Code != http.StatusOK || json.Unmarshal(s.counted(answer.Body.Bytes()), &texts) != nil {
		return version{}
	}
	generation, _ := strconv.ParseInt(texts.Generation, 10, 64)
	metageneration, _ := strconv.ParseInt(texts.Metageneration, 10, 64)
	return version{generation, metageneration}
}

func check(request *http.Request, held version) int {
	query := request.URL.Query()
	for _, condition := range []struct {
		name  string
		held  int64
		equal bool
	}{
		{"ifGenerationMatch", held.Generation, true},
		{"ifGenerationNotMatch", held.Generation, false},
		{"ifMetagenerationMatch", held.Metageneration, true},
		{"ifMetagenerationNotMatch", held.Metageneration, false},
	} {
		wanted, err := strconv.ParseInt(query.Get(condition.name), 10, 64)
		if err != nil || (condition.held == wanted) == condition.equal {
			continue
		}
		if !condition.equal && request.Method == http.MethodGet {
			return http.StatusNotModified
		}
		return http.StatusPreconditionFailed
	}
	return 0
}

func refuse(answer http.ResponseWriter, code int) {
	answer.Header().Set("Content-Type", "application/json")
	answer.WriteHeader(code)
	if code != http.StatusNotModified {
		fmt.Fprintf(answer, `{"error": {"code": %d, "message": "a precondition does not hold", "errors": [{"reason": "conditionNotMet"}]}}`, code)
	}
}

// withContentIDs numbers the parts of a batch that have no Content-ID; Python's client sends none.
func withContentIDs(body []byte) []byte {
	header := []byte("Content-Type: application/http")
	if bytes.Contains(body, []byte("Content-ID")) {
		return body
	}
	pieces := bytes.Split(body, header)
	result := bytes.NewBuffer(pieces[0])
	for number, piece := range pieces[1:] {
		fmt.Fprintf(result, "Content-ID: <part+%d>\n%s%s", number+1, header, piece)
	}
	return result.Bytes()
}

func main() {
	port := flag.Int("port", 4443, "of 127.0.0.1")
	flag.Parse()
	address := fmt.Sprintf("127.0.0.1:%d", *port)
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener: true, Scheme: "http", ExternalURL: "http://" + address, PublicHost: address,
	})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	log.Fatal(http.Serve(listener, &strict{storage: server.HTTPHandler(), changes: map[content]int64{}}))
}
