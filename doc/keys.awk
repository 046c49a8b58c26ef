# Keys of records that the schema describes and the page does not name: in place of each
# line "@KEYS RECORD [of ...]@" of the page, an entry for each such property of RECORD.
# Usage: awk -f keys.awk SCHEMA PAGE.  In the schema each property with a description
# begins a line, and objects inside others are indented by two more blanks.

function roff(text)
{
	gsub(/\\"/, "\"", text)
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/'/, "\\(aq", text)
	return text
}

function described(line, depth)
{
	sub(/.*"description": "/, "", line)
	sub(/",?( *["}].*)?$/, "", line)
	if (name[depth - 2] != "properties")
		return
	record = name[depth - 4]
	key[record, ++n[record]] = name[depth]
	text[record, n[record]] = line
}

function put_keys(record, of,    i)
{
	for (i = 1; i <= n[record]; i++)
		if (!(key[record, i] in named))
			printf ".TP\n.BR %s%s\n%s\n", key[record, i],
				of ? " \"" of "\"" : "", roff(text[record, i])
}

FNR == NR {
	match($0, /^ */)
	depth = RLENGTH
	if ($0 ~ /^ *"[^"]*": \{/) {
		split($0, word, "\"")
		name[depth] = word[2]
		if ($0 ~ /"description": "/)
			described($0, depth)
	} else if ($0 ~ /^ *"description": "/)
		described($0, depth - 2)
	next
}

/^@KEYS / {
	sub(/@$/, "")
	of = $0
	sub(/^@KEYS [a-z_]+/, "", of)
	put_keys($2, of)
	next
}

/^\.SS / {
	for (one in named)
		delete named[one]
}

/^\.BR? / {
	line = $0
	sub(/^\.BR? /, "", line)
	gsub(/"[^"]*"|\(.*/, " ", line)
	count = split(line, word, /[^a-z0-9_]+/)
	for (i = 1; i <= count; i++)
		named[word[i]] = 1
}

{ print }
