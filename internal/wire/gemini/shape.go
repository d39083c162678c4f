package gemini

import "github.com/gatehouse-gateway/gatehouse/internal/wire"

// answerShape is what an answer holds beside its text (https://ai.google.dev/api/generate-content), whole or an event of a stream.
// Links, titles, messages and what else has no shape are texts, and no part.
var answerShape = wholeShape()

// members is the shape of an object whose members are called here as JSON spells them, and in small letters.
func members(shapes map[string]wire.Shape) wire.Shape {
	both := make(map[string]wire.Shape, 2*len(shapes))
	for name, shape := range shapes {
		both[name], both[snake(name)] = shape, shape
	}
	return wire.Object(both)
}

// wholeShape is the shape of an answer to generateContent, or to a method that only measures contents.
func wholeShape() wire.Shape {
	ratings := members(map[string]wire.Shape{
		"category": wire.Word, "probability": wire.Word, "severity": wire.Word, "overwrittenThreshold": wire.Word,
	})
	counted := members(map[string]wire.Shape{"modality": wire.Word, "tokenCount": {}})
	return members(map[string]wire.Shape{
		"candidates": candidateShape(ratings),
		"promptFeedback": members(map[string]wire.Shape{
			"blockReason": wire.Word, "safetyRatings": ratings, // blockReasonMessage is a text
		}),
		"usageMetadata": members(map[string]wire.Shape{
			"promptTokenCount": {}, "candidatesTokenCount": {}, "thoughtsTokenCount": {}, "totalTokenCount": {}, "toolUsePromptTokenCount": {},
			"cachedContentTokenCount": {}, "promptTokensDetails": counted, "candidatesTokensDetails": counted,
			"cacheTokensDetails": counted, "toolUsePromptTokensDetails": counted, "trafficType": wire.Word, "serviceTier": wire.Word,
		}),
		"modelVersion": wire.ID, "responseId": wire.ID, "createTime": wire.Time,
		"modelStatus": members(map[string]wire.Shape{"modelStage": wire.Word, "retirementTime": wire.Time}), // the message is a text
		"error":       members(map[string]wire.Shape{"code": {}, "status": wire.Word}),                      // the same

		// of countTokens
		"totalTokens": {}, "promptTokensDetails": counted, "cacheTokensDetails": counted,
	})
}

func candidateShape(ratings wire.Shape) wire.Shape {
	token := members(map[string]wire.Shape{"token": wire.Read, "tokenId": {}, "logProbability": {}}) // see apart.look
	return members(map[string]wire.Shape{
		"index": {}, "finishReason": wire.Word, "tokenCount": {}, "avgLogprobs": {}, // finishMessage is a text
		"safetyRatings": ratings,
		"content":       members(map[string]wire.Shape{"role": wire.Word, "parts": partShape()}),
		"citationMetadata": members(map[string]wire.Shape{
			"citationSources": citationShape(), "citations": citationShape(),
		}),
		"logprobsResult": members(map[string]wire.Shape{
			"chosenCandidates": token, "topCandidates": members(map[string]wire.Shape{"candidates": token}),
		}),

		// opaque parts
		"groundingMetadata": wire.Read, "groundingAttributions": wire.Read, "urlContextMetadata": wire.Read,
	})
}

// citationShape is that of a citation, which holds links, titles and licenses beside these numbers.
func citationShape() wire.Shape {
	return members(map[string]wire.Shape{"startIndex": {}, "endIndex": {}, "publicationDate": {}})
}

// partShape is that of a part as the API calls it. Members that the codec does not read are opaque parts: no other one needs a shape.
func partShape() wire.Shape {
	return members(map[string]wire.Shape{
		"text": wire.Read, "thought": {}, "thoughtSignature": wire.Bytes,
		"functionCall": members(map[string]wire.Shape{"name": wire.ID, "id": wire.ID, "args": wire.Read}),
		"functionResponse": members(map[string]wire.Shape{
			"name": wire.ID, "id": wire.ID, "response": wire.Read, "parts": wire.Read, "scheduling": wire.Word,
		}),
		"executableCode":      members(map[string]wire.Shape{"language": wire.Word, "code": wire.Read, "id": wire.ID}),
		"codeExecutionResult": members(map[string]wire.Shape{"outcome": wire.Word, "output": wire.Read, "id": wire.ID}),
		"videoMetadata":       members(map[string]wire.Shape{"startOffset": wire.Word, "endOffset": wire.Word, "fps": {}}),
		"mediaResolution":     members(map[string]wire.Shape{"level": wire.Word, "numTokens": {}}),

		// opaque parts
		"inlineData": wire.Read, "fileData": wire.Read, "toolCall": wire.Read, "toolResponse": wire.Read, "partMetadata": wire.Read,
	})
}
