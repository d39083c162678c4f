package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// request is one call of an operation.
type request struct {
	*surface.Call
	api     *API
	who     surface.Who
	params  map[string]string
	version string
	body    []byte
	depth   int // nesting that the body may have; 0: bodyDepth
}

// decode reads the body into a value: one JSON object, with no field that the value does not have, and none twice.
func (r *request) decode(to any) error {
	if len(bytes.TrimSpace(r.body)) == 0 {
		r.body = []byte("{}")
	} else if kind, _, err := mime.ParseMediaType(r.R.Header.Get("Content-Type")); err == nil && kind != "application/json" {
		return surface.Failure(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body must be application/json")
	}
	doc, err := rawjson.Parse(r.body, cmp.Or(r.depth, bodyDepth))
	if err != nil || doc.Kind != rawjson.Object {
		return surface.Failure(http.StatusBadRequest, "invalid_json_body", "the body must be one JSON object, without a key twice")
	}
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.DisallowUnknownFields()
	err = dec.Decode(to)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return invalid(kind.Field, "is of the wrong type")
	case err == nil && !spelled(doc, reflect.TypeOf(to)):
		return unknownField()
	case err != nil && !errors.Is(err, io.EOF):
		return unknownField()
	}
	return nil
}

func unknownField() error {
	return surface.Failure(http.StatusBadRequest, "invalid_request", "the body has a field that this operation does not know, or a value of the wrong form")
}

// spelled reports whether the names in a body are those of the fields letter for letter: encoding/json lets NAME pass for name, and
// then one of the two counts without anybody seeing which.
func spelled(v rawjson.Value, t reflect.Type) bool {
	switch {
	case t.Kind() == reflect.Pointer:
		return spelled(v, t.Elem())
	case t.Kind() == reflect.Slice:
		return !slices.ContainsFunc(v.Elems, func(e rawjson.Value) bool { return !spelled(e, t.Elem()) })
	case t.Kind() != reflect.Struct:
		return true
	}
	types := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		types[name] = t.Field(i).Type
	}
	for _, m := range v.Members {
		if field, known := types[m.Key]; !known || !spelled(m.Value, field) {
			return false
		}
	}
	return true
}

// bodyDepth is the deepest nesting of a body; questions to checkpoints hold arguments and results, which may be deeper.
const (
	bodyDepth  = 32
	checkDepth = argumentDepth + 8
)

// invalid says what is wrong with a field.
func invalid(field, problem string) error {
	return surface.Failure(http.StatusBadRequest, "invalid_request", field+" "+problem)
}

func notFound(what string) error {
	return surface.Failure(http.StatusNotFound, what+"_not_found", "no such "+what)
}

// page is the part of a list that is wanted.
type page struct{ limit, offset int }

const (
	defaultLimit = 50
	maxLimit     = 200
	maxOffset    = 1_000_000
)

// page reads limit and offset.
func (r *request) page() (p page, err error) {
	if p.limit, err = r.number("limit", defaultLimit, 1, maxLimit); err != nil {
		return p, err
	}
	p.offset, err = r.number("offset", 0, 0, maxOffset)
	return p, err
}

// number reads a query parameter.
func (r *request) number(name string, otherwise, least, most int) (int, error) {
	text, err := r.query(name)
	if err != nil || text == "" {
		return otherwise, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, surface.Failure(http.StatusBadRequest, "invalid_"+name+"_parameter",
			name+" must be a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
	return n, nil
}

// moment reads a query parameter that is a time (RFC 3339); zero when there is none.
func (r *request) moment(name string) (time.Time, error) {
	text, err := r.query(name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !storable(t) {
		return time.Time{}, surface.Failure(http.StatusBadRequest, "invalid_"+name+"_parameter", name+" must be a time as in RFC 3339, between 1970 and 2261")
	}
	return t, nil
}

// storable reports whether a time can be kept: nanoseconds since 1970 in 64 bits end in 2262.
func storable(t time.Time) bool { return t.Unix() > 0 && t.Year() < 2262 }

// query reads a query parameter that may stand there once, and not empty; empty when there is none.
func (r *request) query(name string) (string, error) {
	all, err := url.ParseQuery(r.R.URL.RawQuery)
	values := all[name]
	switch {
	case err != nil:
		return "", surface.Failure(http.StatusBadRequest, "invalid_request", "the query cannot be read")
	case len(values) > 1:
		return "", invalid(name, "stands in the query twice")
	case len(values) == 0:
		return "", nil
	case values[0] == "":
		return "", invalid(name, "is empty")
	}
	return values[0], nil
}

// render is the body of an answer, in the version that was asked for.
func (r *request) render(a answer) ([]byte, error) {
	if a.body == nil {
		return nil, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.body); err != nil {
		return nil, err
	}
	return downgrade(b.Bytes(), a.schema, r.version)
}

// send writes an answer.
func (r *request) send(status int, schema string, body []byte) {
	if schema != "" {
		r.Own.Set("X-Mnemom-Schema", schema)
	}
	kind := "application/json"
	switch {
	case body == nil:
		status, kind = http.StatusNoContent, ""
	case status == 0:
		status = http.StatusOK
	}
	r.X.Status = status
	r.Write(status, kind, body)
	r.Log(nil)
}

// did says what the operation has done, for the record.
func (r *request) did(kind, target string, data any) error {
	e := &gatehouse.Event{Type: kind, Target: target}
	if data != nil {
		raw, err := json.Marshal(data)
		if err != nil {
			return err
		}
		e.Data = raw
	}
	r.X.Event = e
	return nil
}
