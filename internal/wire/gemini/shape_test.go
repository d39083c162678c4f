package gemini

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// places notes the paths that an answer names, and its parts.
type places struct {
	parts []gatehouse.Part
	paths []string
}

func (p *places) Open(part gatehouse.Part) int {
	p.parts = append(p.parts, part)
	return len(p.parts) - 1
}
func (p *places) Text(id int, delta string) { p.parts[id].Text += delta }
func (*places) Close(int)                   {}
func (p *places) Unread(path string) {
	if !slices.Contains(p.paths, path) {
		p.paths = append(p.paths, path)
	}
}

func unread(t *testing.T, docs ...string) string {
	t.Helper()
	var p places
	s := Codec{}.Stream(&p)
	for _, doc := range docs {
		if err := s.Event([]byte("data: "+doc+"\n\n"), "", doc); err != nil {
			t.Fatal(err)
		}
	}
	if len(docs) == 1 {
		var whole places
		if _, err := (Codec{}).Response([]byte(docs[0]), &whole); err != nil || !slices.Equal(whole.paths, p.paths) {
			t.Errorf("whole %q, streamed %q, %v", whole.paths, p.paths, err)
		}
	}
	return strings.Join(p.paths, " ")
}

// Answers as the documentation shows them, of the Gemini API and of Vertex AI.
func TestOrdinaryAnswersHaveNothingUnread(t *testing.T) {
	for _, doc := range []string{
		`{"candidates":[{"content":{"parts":[{"text":"AI learns from data."}],"role":"model"},"finishReason":"STOP","index":0,"avgLogprobs":-0.1,"tokenCount":7,
		  "safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"NEGLIGIBLE","probabilityScore":0.1,"severity":"HARM_SEVERITY_NEGLIGIBLE","severityScore":0.2,"blocked":false}]}],
		  "usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":10,"totalTokenCount":18,"thoughtsTokenCount":3,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}],"trafficType":"ON_DEMAND"},
		  "modelVersion":"gemini-2.5-flash","createTime":"2025-09-24T10:09:16.123456Z","responseId":"mMTTaPnKOqKzsbQP6sX2oQQ"}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"**Well**","thought":true},{"functionCall":{"name":"get_weather","args":{"city":"New York"},"id":"8f2b1a3a"},"thoughtSignature":"CpcHAdHtim9+q4rstcbvQC0ic4x1/vqQlCJWgE+UZ6dTLYGHMMBkF/AxqL5UmP6SY46uYC8t4BTFiXG5zkw6EMJ\u003d"}]},"finish_reason":"STOP"}],
		  "usage_metadata":{"prompt_token_count":8},"model_version":"gemini-3-pro-preview","response_id":"x"}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"print(1 + 1)"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2\n"}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]},"logprobsResult":{"chosenCandidates":[{"token":"Hel","tokenId":7,"logProbability":-0.1},{"token":"lo"}],"topCandidates":[{"candidates":[{"token":"Hel"}]},{"candidates":[{"token":"lo"}]}]}}]}`,
		`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":8},"modelVersion":"gemini-2.5-flash"}`,
		`{"totalTokens":31,"totalBillableCharacters":96,"cachedContentTokenCount":3,"promptTokensDetails":[{"modality":"TEXT","tokenCount":31}]}`,
		`{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"It is."}]},"groundingMetadata":{"webSearchQueries":["who won"]},"urlContextMetadata":{"urlMetadata":[{"retrievedUrl":"https://a/"}]}}]}`, // parts stand for them
	} {
		if got := unread(t, doc); got != "" {
			t.Errorf("%s names %s", doc, got)
		}
	}
}

func TestWhatIsUnread(t *testing.T) {
	candidate := func(more string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[{"text":"abc"}]},"index":0,` + more + `}]}`
	}
	part := func(p string) string { return `{"candidates":[{"content":{"role":"model","parts":[` + p + `]}}]}` }
	for _, c := range []struct{ name, doc, want string }{
		{"why it stopped", candidate(`"finishMessage":"b c"`), "candidates[].finish_message"},
		{"the same in small letters", candidate(`"finish_message":"b c"`), "candidates[].finish_message"},
		{"a reason of words", candidate(`"finishReason":"b c"`), "candidates[].finish_reason"},
		{"citations", candidate(`"citationMetadata":{"citationSources":[{"startIndex":1,"uri":"https://a/","title":"b c","license":"MIT"}]}`),
			"candidates[].citation_metadata.citation_sources[].uri candidates[].citation_metadata.citation_sources[].title candidates[].citation_metadata.citation_sources[].license"},
		{"a rating", candidate(`"safetyRatings":[{"category":"b c"}]`), "candidates[].safety_ratings[].category"},
		{"tokens of another text", candidate(`"logprobsResult":{"chosenCandidates":[{"token":"ab"},{"token":"d"}]}`), "candidates[].logprobs_result.chosen_candidates"},
		{"tokens that are none", candidate(`"logprobsResult":{"chosenCandidates":[{"token":{"b":"c"}}]}`), "candidates[].logprobs_result.chosen_candidates"},
		{"tokens in no list", candidate(`"logprobsResult":{"chosenCandidates":{"token":"b c"}}`), "candidates[].logprobs_result.chosen_candidates"},
		{"tokens that were not chosen", candidate(`"logprobsResult":{"chosenCandidates":[{"token":"abc"}],"topCandidates":[{"candidates":[{"token":"abc"},{"token":"xyz"}]}]}`), "candidates[].logprobs_result.top_candidates"},
		{"such in a list of lists", candidate(`"logprobsResult":{"chosenCandidates":[{"token":"abc"}],"topCandidates":[{"candidates":[[{"token":"xyz"}]]}]}`),
			"candidates[].logprobs_result.top_candidates candidates[].logprobs_result.top_candidates[].candidates[][].token"},
		{"such in no list", candidate(`"logprobsResult":{"chosenCandidates":[{"token":"abc"}],"topCandidates":{"candidates":[{"token":"xyz"}]}}`), "candidates[].logprobs_result.top_candidates"},
		{"beside a token", candidate(`"logprobsResult":{"chosenCandidates":[{"token":"abc","note":"b c"}]}`), "candidates[].logprobs_result.chosen_candidates[].note"},
		{"beside a content", `{"candidates":[{"content":{"role":"b c","note":"d","parts":[{"text":"a"}]}}]}`, "candidates[].content.role candidates[].content.note"},
		{"beside a call", part(`{"functionCall":{"name":"n","args":{},"note":"b c"}}`), "candidates[].content.parts[].function_call.note"},
		{"a tool named by a text", part(`{"functionCall":{"name":"b c","args":{}}}`), "candidates[].content.parts[].function_call.name"},
		{"a language of words", part(`{"executableCode":{"language":"b c","code":"a","note":"d"}}`), "candidates[].content.parts[].executable_code.language candidates[].content.parts[].executable_code.note"},
		{"an outcome of words", part(`{"codeExecutionResult":{"outcome":"b c","output":"a"}}`), "candidates[].content.parts[].code_execution_result.outcome"},
		{"a signature of words", part(`{"text":"a","thoughtSignature":"b c"}`), "candidates[].content.parts[].thought_signature"},
		{"of a video", part(`{"text":"a","videoMetadata":{"startOffset":"3s","note":"b c"}}`), "candidates[].content.parts[].video_metadata.note"},
		{"why the prompt was refused", `{"promptFeedback":{"blockReason":"SAFETY","blockReasonMessage":"b c"}}`, "prompt_feedback.block_reason_message"},
		{"beside the candidates", `{"candidates":[],"note":"b c","modelVersion":"d e","usageMetadata":{"note":"f"}}`, "note model_version usage_metadata.note"},
		{"of the model", `{"modelStatus":{"modelStage":"DEPRECATED","retirementTime":"2026-01-01T00:00:00Z","message":"b c"}}`, "model_status.message"},
		{"an error", `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE","details":[{"@type":"b"}]}}`, "error.message error.details"},
		{"names that nobody else has", `{"Candidates":[{"content":{"parts":[{"text":"b c"}]}}],"candidates":[{"content":{"Parts":[{"text":"b c"}]}}]}`, "candidates candidates[].content.parts"},
		{"a name that is a text", `{"It is so":1}`, "*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := unread(t, c.doc); got != c.want {
				t.Errorf("names %q, want %q", got, c.want)
			}
		})
	}
}

func TestStringsInPlaceOfObjectsAreParts(t *testing.T) {
	var p places
	if _, err := (Codec{}).Response([]byte(`{"candidates":[{"groundingMetadata":"b c"}]}`), &p); err != nil || len(p.parts) != 1 || p.parts[0].Kind != gatehouse.Opaque {
		t.Errorf("%v, %v", p.parts, err)
	}
}

func TestAnEventNamedByAText(t *testing.T) {
	for name, want := range map[string][]string{"": nil, "message": nil, "It is so": {"event"}} {
		var p places
		if err := (Codec{}).Stream(&p).Event(nil, name, `{"candidates":[]}`); err != nil || !slices.Equal(p.paths, want) {
			t.Errorf("%q: %q, %v", name, p.paths, err)
		}
	}
}

func TestTokensMayRepeatWhatWasSaid(t *testing.T) {
	const first = `{"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}`
	tokens := func(list string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"lo 🙂"}]},"logprobsResult":{"chosenCandidates":[` + list + `]}}]}`
	}
	for list, want := range map[string]string{
		`{"token":"lo"},{"token":" 🙂"}`:                         "",
		`{"token":"Hello"},{"token":" 🙂"}`:                      "",
		`{"token":"lo "},{"token":"\ufffd"},{"token":"\ufffd"}`: "",
		`{"token":"lo"}`:                                       "",
		`{"token":"lo 🙂 bye"}`:                                 "candidates[].logprobs_result.chosen_candidates",
		`{"token":"hi "},{"token":"\ufffd"}`:                   "candidates[].logprobs_result.chosen_candidates",
		`{"token":"\ufffd"},{"token":"hi"},{"token":"\ufffd"}`: "candidates[].logprobs_result.chosen_candidates",
	} {
		if got := unread(t, first, tokens(list)); got != want {
			t.Errorf("%s names %q, want %q", list, got, want)
		}
	}
}

// What quotes a text that is still to come waits until that is decided.
func TestWhatQuotesWaits(t *testing.T) {
	for name, more := range map[string]string{
		"citations":         `"citationMetadata":{"citationSources":[{"title":"the word"}]}`,
		"log probabilities": `"logprobsResult":{"chosenCandidates":[{"token":"the word"}]}`,
		"supports":          `"groundingMetadata":{"groundingSupports":[{"segment":{"text":"the word"}}]}`,
	} {
		for _, content := range []string{"", `"content":{"parts":[{"text":"So. "}]},`} {
			t.Run(name+content, func(t *testing.T) {
				var p places
				s := Codec{}.Stream(&p).(wire.Incremental)
				feed := func(doc string) {
					if err := s.Event([]byte("data: "+doc+"\n\n"), "", doc); err != nil {
						t.Fatal(err)
					}
				}
				feed(`{"candidates":[{` + content + more + `}]}`)
				feed(`{"candidates":[{"content":{"parts":[{"text":"Say the word now"}]}}]}`)
				early, err := s.Next(p.parts, func(int) int { return len("So. Say") }, false)
				if err != nil || strings.Contains(string(early), "the word") {
					t.Errorf("%s, %v", early, err)
				}
				feed(`{"candidates":[{"finishReason":"STOP"}]}`)
				for i := range p.parts {
					p.parts[i].Text = strings.Replace(p.parts[i].Text, "the word", "[GONE]", 1)
				}
				late, err := s.Next(p.parts, wire.Free, true)
				if err != nil || strings.Contains(string(late), "the word") || !strings.Contains(string(late), "[GONE]") {
					t.Errorf("%s, %v", late, err)
				}
			})
		}
	}
}

// unreadStep is a step that looks for what is unread of an ordinary event.
func unreadStep(t testing.TB) (step func()) {
	c, err := readChunk([]byte(`{"candidates":[{"content":{"parts":[{"text":"Hello, you"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3,"totalTokenCount":11,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}]},"modelVersion":"gemini-2.5-flash","responseId":"mMTTaPnKOqKzsbQP6sX2oQQ"}`))
	if err != nil {
		t.Fatal(err)
	}
	var p places
	a := newAnswer(&p, false)
	return func() {
		if _, err := a.apart(c); err != nil {
			t.Fatal(err)
		}
		answerShape.Unread(c.root, c.doc, snake, a.to.Unread)
	}
}

func TestAnOrdinaryEventCostsNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(100, unreadStep(t)); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkUnread(b *testing.B) {
	step := unreadStep(b)
	b.ReportAllocs()
	for range b.N {
		step()
	}
}
