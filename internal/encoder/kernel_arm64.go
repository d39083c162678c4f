package encoder

func kernels() []kernel { return []kernel{portable()} }
