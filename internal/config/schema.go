package config

import "encoding/json"

// Schema is the JSON Schema of the file (draft 2020-12), for editors.
func Schema() []byte {
	root := fieldsSchema(Default().fields())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Gatehouse configuration"
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // maps of our own making
	}
	return append(out, '\n')
}

func fieldsSchema(fields []field) object {
	properties := object{}
	for _, f := range fields {
		one := object{"description": f.doc}
		for k, v := range f.schema {
			one[k] = v
		}
		properties[f.name] = one
	}
	return object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}
