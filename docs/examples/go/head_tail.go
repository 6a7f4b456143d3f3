// A summarizer as a process: the head and the tail of a long result. Run as command:"go run head_tail.go", with BENCH_WRITABLE=$HOME/.cache, where it compiles.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const kept = 5

type request struct {
	Result struct {
		Text string `json:"text"`
	} `json:"result"`
}

func summarize(text string) *string {
	lines := strings.Split(text, "\n")
	if len(lines) <= 2*kept {
		return nil // as it is
	}
	between := fmt.Sprintf("[%d lines left out]", len(lines)-2*kept)
	short := append(append([]string{}, lines[:kept]...), between)
	told := strings.Join(append(short, lines[len(lines)-kept:]...), "\n")
	return &told
}

func main() {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var asked request
		if err == nil {
			err = json.Unmarshal(line, &asked)
		}
		if err != nil {
			out.Encode(map[string]any{"error": err.Error()})
			continue
		}
		out.Encode(map[string]any{"answer": summarize(asked.Result.Text)})
	}
}
