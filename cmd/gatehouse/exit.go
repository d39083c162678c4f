package main

// exitError is a command's negative answer: the code to exit with, and what to say on standard error. 1 means that the answer is
// no; 2 means that the question could not be understood.
type exitError struct {
	code int
	msg  string
}

func (e exitError) Error() string { return e.msg }
