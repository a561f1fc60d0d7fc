// Reads SQL texts from standard input, one JSON string a line, and parses each with CockroachDB's own grammar. Prints those
// that it refuses, with the reason; exit status 1 if there is any.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
)

const longestLine = 64 << 20

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	parsed, refused := 0, 0
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			fmt.Fprintf(os.Stderr, "not a JSON string: %s: %v\n", lines.Text(), err)
			os.Exit(2)
		}
		if _, err := parser.Parse(text); err != nil {
			refused++
			fmt.Printf("refused: %s\n  %v\n", text, err)
		}
		parsed++
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Printf("%d parsed, %d refused\n", parsed, refused)
	if refused > 0 {
		os.Exit(1)
	}
}
