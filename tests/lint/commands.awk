# SPDX-License-Identifier: GPL-2.0-or-later
# Prints what shell files call, a line each:
#
#	call FILE:LINE WORD	a word in the place of a command
#	ask FILE:LINE WORD	the operand of "command -v", or of the tests' "need"
#	def FILE:LINE WORD	a function
#
# It knows quotes, substitutions, "case", here-documents and commands that run
# another one, as "run -0 WORD".  Here-documents with scripts for a guest are read as
# well.  What is in quotes, as after "sh -c", is not.
#
# A level of the stack is "(" for a command, "a" for an array, "c" for a case, "d"
# and "s" for quotes, "e" for those that begin with $, "h" for a here-document.

function push(kind) {
	depth++
	top = stack[depth] = kind
	kept_command[depth] = command
	kept_word[depth] = word
	kept_brackets[depth] = brackets
	kept_wrapper[depth] = wrapper
	kept_asks[depth] = asks
	kept_looped[depth] = looped
	kept_redirected[depth] = redirected
}

function pop() {
	command = kept_command[depth]
	word = kept_word[depth]
	brackets = kept_brackets[depth]
	wrapper = kept_wrapper[depth]
	asks = kept_asks[depth]
	looped = kept_looped[depth]
	redirected = kept_redirected[depth]
	depth--
	top = stack[depth]
}

# begin_command(KIND): a substitution; what contains it goes on afterwards.
function begin_command(kind) {
	push(kind)
	start()
	brackets = 0
}

function start() {
	command = !brackets && top != "a"
	word = wrapper = asks = ""
	looped = redirected = 0
}

function say(kind, name) {
	print kind, FILENAME ":" FNR, name
}

# A variable stands for the words of its loop.
function ask(name,    list, i, n) {
	if (sub(/^\$\{?/, "", name)) {
		sub(/\}$/, "", name)
		name = name in loops ? loops[name] : ""
	}
	n = split(name, list, " ")
	for (i = 1; i <= n; i++)
		if (list[i] ~ /^[A-Za-z0-9_.+-]+$/)
			say("ask", list[i])
}

# The word after one that runs a command: an option or a value of that.
function is_argument(w) {
	if (wrapper == "command" && w ~ /^-[vV]$/) {
		asks = 1
		command = 0
		return 1
	}
	return wrapper != "" && w ~ /^-|^[0-9.]+[smh]?$|^[{}%!]+$/
}

function end_word(    w, names, i) {
	w = word
	word = ""
	if (w == "")
		return
	if (redirected) {
		redirected = 0
		return
	}
	if (top == "c" && w == "esac") {
		pop()
		command = 0
		return
	}
	if (asks) {
		if (w !~ /^-/)
			ask(w)
		return
	}
	if (brackets) {
		brackets = w != "]]"
		return
	}
	if (!command) {
		if (looped == 1) {
			loop_name = w
			loops[w] = ""
			looped = 2
		} else if (looped == 2 && w != "in") {
			loops[loop_name] = loops[loop_name] " " w
		} else if (w ~ /^-exec(dir)?$/) {
			command = 1
		}
		return
	}
	if (w ~ /^(if|then|else|elif|do|while|until|!|\{|time)$/ ||
	    w ~ /^[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=/ || is_argument(w))
		return
	command = 0
	if (w ~ /^\$[A-Za-z_]+$/ && substr(w, 2) in loops) {
		split(loops[substr(w, 2)], names, " ")
		for (i in names)
			if (names[i] ~ /^[A-Za-z0-9_.+-]+$/)
				say("call", names[i])
	} else if (w == "case") {
		push("c")
		patterns[depth] = 1
	} else if (w == "for" || w == "select") {
		looped = 1
	} else if (w == "[[") {
		brackets = 1
	} else if (w == "need") {
		asks = 1
	} else if (w ~ /^[A-Za-z0-9_.+-]+$/ &&
		   w !~ /^(fi|done|esac|in|function|\})$/) {
		if (w in wrappers) {
			command = 1
			wrapper = w
		}
		say("call", w)
	}
}

# The rest of the line begins with what match() found: takes it off.
function take(    found) {
	found = substr(rest, 1, RLENGTH)
	rest = substr(rest, RLENGTH + 1)
	return found
}

# Quotes, up to their end or that of the line.
function quoted(    at) {
	if (top == "s") {
		at = index(rest, "'")
		rest = at ? substr(rest, at + 1) : ""
		if (at)
			pop()
	} else if (top == "e") {
		if (match(rest, /^([^\\']|\\.)*'/))
			pop()
		else
			RLENGTH = length(rest)
		take()
	} else if (match(rest, /^"/)) {
		take()
		at = word
		pop()
		word = word at
	} else if (match(rest, /^[^"\\$`]+/)) {
		word = word take()
	} else if (match(rest, /^\\./)) {
		word = word take()
	} else {
		expansion()
	}
}

# $..., in quotes as well.
function expansion() {
	if (match(rest, /^\$\(\(([^)]|\)[^)])*\)\)/)) {
		take()
	} else if (match(rest, /^\$\(/)) {
		take()
		word = word "$()"
		begin_command("(")
	} else if (match(rest, /^`/)) {
		take()
		if (top == "`" || stack[depth - 1] == "`") {
			end_word()
			pop()
		} else {
			word = word "$()"
			begin_command("`")
		}
	} else if (match(rest, /^\$\{[^{}]*(\{[^{}]*\}[^{}]*)*\}/) ||
		   match(rest, /^\$[A-Za-z0-9_@*#?$!-]+/)) {
		word = word take()
	} else {
		word = word substr(rest, 1, 1)
		rest = substr(rest, 2)
	}
}

function here_document(    tabs, mark) {
	tabs = take() ~ /-$/
	match(rest, /^[ \t]*[\\'"]?[A-Za-z_]+['"]?/)
	mark = take()
	gsub(/[^A-Za-z_]/, "", mark)
	documents++
	document[documents] = mark
}

function operator() {
	if (top == "c" && patterns[depth]) {
		end_word()
		if (top == "c" && match(rest, /^\)/)) {
			patterns[depth] = 0
			start()
		}
		RLENGTH = 1
		take()
	} else if (word != "" && match(rest, /^\(\)/)) {
		say("def", word)
		take()
		start()
	} else if (word ~ /=$/ && match(rest, /^\(/)) {
		take()
		push("a")
		word = ""
		command = 0
	} else if (match(rest, /^\(\(/) && command) {
		if (!match(rest, /\)\)/))
			RSTART = length(rest)
		RLENGTH = RSTART + 1
		take()
	} else if (match(rest, /^\(/)) {
		end_word()
		take()
		begin_command("(")
	} else if (match(rest, /^\)/)) {
		end_word()
		take()
		if (top == "(" || top == "a")
			pop()
	} else {
		end_word()
		match(rest, /^[;&|]+/)
		if (take() ~ /^;[;&]/ && top == "c")
			patterns[depth] = 1
		start()
		if (top == "c" && patterns[depth])
			command = 0
	}
}

function line() {
	while (rest != "") {
		if (top ~ /[sed]/) {
			quoted()
		} else if (match(rest, /^[ \t]+/)) {
			end_word()
			take()
		} else if (word == "" && match(rest, /^#/)) {
			rest = ""
		} else if (match(rest, /^[0-9]*<<</)) {
			end_word()
			take()
			redirected = 1
		} else if (match(rest, /^[0-9]*<<-?/)) {
			here_document()
		} else if (match(rest, /^[<>]\(/)) {
			take()
			word = word "$()"
			begin_command("(")
		} else if (match(rest, /^[0-9]*(&>>?|[<>]&|>>|>\||<>|<|>)/) &&
			   (word == "" || rest !~ /^[0-9]/)) {
			end_word()
			take()
			redirected = 1
		} else if (match(rest, /^[^ \t"'\\$`();|&<>]+/)) {
			word = word take()
		} else if (match(rest, /^"/)) {
			take()
			push("d")
			word = ""
		} else if (match(rest, /^\$?'/)) {
			push(take() == "'" ? "s" : "e")
			kept_word[depth] = word "''"
		} else if (match(rest, /^\\./)) {
			word = word take()
		} else if (rest == "\\") {
			rest = ""
			return
		} else if (match(rest, /^[();|&]/)) {
			operator()
		} else {
			expansion()
		}
	}
	if (top ~ /[sed]/)
		return
	end_word()
	start()
	if (top == "c" && patterns[depth])
		command = 0
}

function is_end(mark,    text) {
	text = $0
	sub(/^[ \t]+/, "", text)
	return text == mark
}

BEGIN {
	split("run exec command env sudo nice timeout setsid xargs nohup unshare " \
		"strace chroot setpriv ionice stdbuf fakeroot user in_root", names, " ")
	for (i in names)
		wrappers[names[i]]
}

FNR == 1 {
	depth = documents = reading = brackets = 0
	top = stack[0] = ""
	split("", loops)
	start()
}

reading && is_end(document[reading]) {
	while (script && top != "h")
		pop()
	if (script)
		pop()
	script = 0
	reading = reading < documents ? reading + 1 : 0
	if (!reading)
		documents = 0
	next
}

reading && !script { next }

{
	rest = $0
	line()
	if (documents && !reading) {
		reading = 1
		script = document[1] ~ /^(SCRIPT|FILL|JOBS)$/
		if (script) {
			push("h")
			start()
		}
	}
}
