package fake

import "net/http"

// cut is a response whose connection breaks after some bytes of body. What was written before arrives.
type cut struct {
	http.ResponseWriter
	left int
}

// Write writes until the bytes are used up, and then ends the connection without ending the response.
func (c *cut) Write(b []byte) (int, error) {
	if len(b) < c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler) // the server closes the connection and logs nothing
}

// Unwrap lets a response controller reach the writer beneath.
func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }
