// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell expands these, not JavaScript.
/**
 * Generates command lines that run a command which their own text spells: every way to print it times every way to
 * run what is printed, and every way to spell its words.
 */
import { quote } from './evaluation-classes.js';

type Spell = (source: string) => string;
const octal = (text: string) =>
  Array.from(text, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const reversed = (text: string) => Array.from(text).reverse().join('');
const words = (text: string) => text.split(' ').map(quote).join(' ');
const letters = (text: string) => Array.from(text, quote).join(' ');
const apart = (text: string, mark: string) => Array.from(text).join(mark);

/** Commands that print the source. The source has blanks between its words and no quotes. */
const PRODUCERS: Readonly<Record<string, Spell>> = {
  echo: (it) => `echo ${quote(it)}`,
  'printf of letters': (it) => `printf %c ${letters(it)}`,
  'printf of octal numbers': (it) => `printf '${octal(it)}'`,
  'printf that cuts': (it) => `printf '%.${it.length}s' ${quote(`${it}xyz`)}`,
  'here-string': (it) => `cat <<< ${quote(it)}`,
  'here-document': (it) => `{ cat <<'END'\n${it}\nEND\n}`,
  'other descriptor': (it) => `cat 3<<< ${quote(it)} <&3`,
  'file of a descriptor': (it) => `cat /dev/fd/3 3<<< ${quote(it)}`,
  'process substitution': (it) => `cat <(echo ${quote(it)})`,
  'base64 with an abbreviation': (it) => `echo ${base64(it)} | base64 --dec`,
  'base64 of a file': (it) => `base64 -d <(echo ${base64(it)})`,
  'base64 twice': (it) => `echo ${base64(base64(it))} | base64 -d | base64 -d`,
  rev: (it) => `echo ${quote(reversed(it))} | rev`,
  'tr of classes': (it) => `echo ${quote(it.toUpperCase())} | tr '[:upper:]' '[:lower:]'`,
  'tr that removes': (it) => `echo ${quote(apart(it, '7'))} | tr -d '[:digit:]'`,
  'tr with a long option': (it) => `echo ${quote(apart(it, '@'))} | tr --delete @`,
  'sed that removes': (it) => `echo ${quote(apart(it, '@'))} | sed 's/@//g'`,
  'sed that appends': (it) => `echo | sed ${quote(`a ${it}`)}`,
  'sed that prints': (it) => `echo ${quote(it)} | sed -n p`,
  'awk that prints a text': (it) => `awk 'BEGIN{print "${it}"}'`,
  'awk that prints fields': (it) =>
    `echo x ${quote(it)} | awk '{print ${it
      .split(' ')
      .map((_, at) => `$${at + 2}`)
      .join('" "')}}'`,
  'awk with a variable': (it) => `awk -v x=${quote(it)} 'BEGIN{print x}'`,
  'first line': (it) => `echo ${quote(it)} | head -1`,
  'first bytes': (it) => `echo ${quote(`${it}xyz`)} | head -c ${it.length}`,
  'last line': (it) => `printf 'x\\n%s\\n' ${quote(it)} | tail -n 1`,
  'last bytes': (it) => `echo ${quote(`xyz${it}`)} | tail -c +4`,
  'last field': (it) => `echo ${quote(`x:${it}`)} | cut -d: -f2-`,
  'last columns': (it) => `echo ${quote(`xx${it}`)} | cut -c3-`,
  'matching line': (it) => `printf 'x\\n%s\\n' ${quote(it)} | grep -v x`,
  'matching part': (it) => `echo ${quote(`12${it}`)} | grep -o '[a-z].*'`,
  sort: (it) => `echo ${quote(it)} | sort | uniq`,
  tac: (it) => `echo ${quote(it)} | tac`,
  paste: (it) => `printf '%s\\n' ${words(it)} | paste -sd ' '`,
  fmt: (it) => `printf '%s\\n' ${words(it)} | fmt`,
  'xargs without a program': (it) => `printf '%s\\n' ${words(it)} | xargs`,
  'xargs with echo': (it) => `echo ${quote(it)} | xargs echo`,
  dd: (it) => `echo ${quote(it)} | dd status=none`,
  'wrapped filter': (it) => `echo ${quote(it)} | stdbuf -o0 cat`,
  'wrapped echo': (it) => `timeout 4 env echo ${quote(it)}`,
  'builtin echo': (it) => `builtin echo ${quote(it)}`,
  'shell that prints': (it) => `bash -c ${quote(`echo ${quote(it)}`)}`,
  'eval that prints': (it) => `eval ${quote(`echo ${quote(it)}`)}`,
  'parts of a list': (it) => `(printf %s ${quote(it.slice(0, 3))}; echo ${quote(it.slice(3))})`,
  condition: (it) => `if true; then echo ${quote(it)}; fi`,
  'list after a failure': (it) => `{ false || echo ${quote(it)}; }`,
  case: (it) => `case x in x) echo ${quote(it)};; esac`,
  'loop over words': (it) => `for w in ${words(it)}; do printf '%s ' "$w"; done`,
  'loop over letters': (it) => `for w in ${letters(it)}; do echo -n "$w"; done`,
  'loop over lines': (it) => `while read -r l; do echo "$l"; done <<< ${quote(it)}`,
  function: (it) => `{ g() { echo "$*"; }; g ${words(it)}; }`,
  variable: (it) => `{ v=${quote(it)}; echo "$v"; }`,
  'exported variable': (it) => `{ export v=${quote(it)}; printenv v; }`,
  'file that is written': (it) => `{ echo ${quote(it)} > zz; cat zz; }`,
  'file that tee writes': (it) => `{ echo ${quote(it)} | tee zz > /dev/null; cat zz; }`,
  date: (it) => `date +${quote(it)}`,
  expr: (it) => `expr ${quote(it)} : '\\(.*\\)'`,
  'part of a text': (it) => `expr substr ${quote(`zz${it}`)} 3 99`,
  yes: (it) => `yes ${quote(it)} | head -1`,
  'changed directory': (it) => `{ cd .; echo ${quote(it)}; }`,
};

/** Commands that run what a producer prints. */
const CONSUMERS: Readonly<Record<string, Spell>> = {
  'pipe to a shell': (it) => `${it} | sh`,
  'pipe to a wrapped shell': (it) => `${it} | nohup timeout 5 sh`,
  'pipe to a function': (it) => `f() { sh; }; ${it} | f`,
  'pipe to a loop with a shell': (it) => `${it} | while :; do sh; break; done`,
  'pipe to a loop': (it) => `${it} | while read -r l || [ -n "$l" ]; do $l; done`,
  'pipe to a loop over fields': (it) => `${it} | while read -r a b || [ -n "$a" ]; do $a $b; done`,
  'pipe to read': (it) => `${it} | { read -r v; eval "$v"; }`,
  'pipe to source': (it) => `${it} | . /dev/fd/0`,
  'pipe to xargs with a shell': (it) => `${it} | tr -d '\\n' | xargs -0 sh -c`,
  'pipe to xargs with a placeholder': (it) => `${it} | xargs -I{} sh -c '{}'`,
  'pipe to xargs with a wrapper': (it) => `${it} | xargs env`,
  'pipe to a process': (it) => `{ ${it}\n} > >(sh)`,
  'process as input': (it) => `sh < <(${it}\n)`,
  'process as script': (it) => `bash <(${it}\n)`,
  'process as source': (it) => `. <(${it}\n)`,
  'process as start file': (it) => `bash --rcfile <(${it}\n) -i -c :`,
  substitution: (it) => `$(${it}\n)`,
  'substitution as arguments': (it) => `env $(${it}\n)`,
  'substitution as source': (it) => `sh -c "$(${it}\n)"`,
  'substitution in a here-document': (it) => `bash <<OUTER\n$(${it}\n)\nOUTER`,
  eval: (it) => `eval "$(${it}\n)"`,
  variable: (it) => `v=$(${it}\n); $v`,
  'array of words': (it) => `v=($(${it}\n)); "\${v[@]}"`,
  'array of lines': (it) => `mapfile -t v < <(${it}\n); eval "\${v[0]}"`,
  'positional parameters': (it) => `set -- $(${it}\n); "$@"`,
  descriptor: (it) => `exec 3< <(${it}\n); sh <&3`,
  'descriptor of a process': (it) => `exec 3> >(sh); { ${it}\n} >&3; exec 3>&-`,
  coprocess: (it) => `coproc sh; { ${it}\n} >&"\${COPROC[1]}"`,
  'script file': (it) => `{ ${it}\n} > zz; sh zz`,
  'sourced file': (it) => `{ ${it}\n} > zz; . ./zz`,
  'file as input': (it) => `{ ${it}\n} > zz; sh < zz`,
  'file that is piped': (it) => `{ ${it}\n} >> zz; cat zz | sh`,
  'file in a substitution': (it) => `{ ${it}\n} > zz; eval "$(< zz)"`,
  'file that tee writes': (it) => `${it} | tee zz > /dev/null; bash zz`,
  'file that dd writes': (it) => `${it} | dd of=zz status=none; bash zz`,
  'copied file': (it) => `{ ${it}\n} > zz; cp zz yy; sh yy`,
  'executable file': (it) => `{ ${it}\n} > zz; chmod +x zz; ./zz`,
  'trap on exit': (it) => `trap "$(${it}\n)" EXIT`,
  awk: (it) => `${it} | awk '{system($0)}'`,
  sed: (it) => `${it} | sed '1s/.*/&/e'`,
};

/** Ways to spell the words of a simple command. */
const SPELLINGS: Readonly<Record<string, (all: readonly string[]) => string>> = {
  'negative indexes': (all) =>
    `a=(${all.join(' ')}); ${all.map((_, at) => `"\${a[${at - all.length}]}"`).join(' ')}`,
  'slice of an array': (all) => `a=(x ${all.join(' ')} y); "\${a[@]:1:${all.length}}"`,
  'appended elements': (all) => `a=(); ${all.map((it) => `a+=(${it})`).join('; ')}; "\${a[@]}"`,
  'single elements': (all) => `${all.map((it, at) => `a[${at}]=${it}`).join('; ')}; "\${a[@]}"`,
  'elements with names': (all) =>
    `declare -A a=(${all.map((it, at) => `[k${at}]=${it}`).join(' ')}); ${all.map((_, at) => `"\${a[k${at}]}"`).join(' ')}`,
  'slice of arguments': (all) => `set -- z ${all.join(' ')}; "\${@:2}"`,
  'shifted arguments': (all) => `set -- z ${all.join(' ')}; shift; "$@"`,
  'shifted arguments of a function': (all) => `f() { shift; "$@"; }; f z ${all.join(' ')}`,
  'removed beginning': ([name, ...rest]) => `v=x/${name}; \${v##*/} ${rest.join(' ')}`,
  'removed end': ([name, ...rest]) => `v=${name}.txt; \${v%.*} ${rest.join(' ')}`,
  'replaced pattern': ([name = '', ...rest]) =>
    `v=${apart(name, '4')}; \${v//[0-9]/} ${rest.join(' ')}`,
  'end of a text': ([name = '', ...rest]) =>
    `v=zz${name}; \${v: -${name.length}} ${rest.join(' ')}`,
  'cut end of a text': ([name, ...rest]) => `v=${name}zz; \${v:0:-2} ${rest.join(' ')}`,
  'lower case': ([name = '', ...rest]) => `v=${name.toUpperCase()}; \${v@L} ${rest.join(' ')}`,
  'escaped letters': ([name = '', ...rest]) => `v='${octal(name)}'; \${v@E} ${rest.join(' ')}`,
  'another name of a variable': ([name, ...rest]) =>
    `v=${name}; declare -n n=v; $n ${rest.join(' ')}`,
  'quoted declaration': ([name, ...rest]) => `declare "v=${name}"; $v ${rest.join(' ')}`,
  'printf into an array': ([name, ...rest]) => `printf -v 'v[0]' %s ${name}; $v ${rest.join(' ')}`,
  'array of lines': (all) => `mapfile -t v <<< '${all.join('\n')}'; "\${v[@]}"`,
  'search for the program': ([name, ...rest]) => `$(command -v ${name}) ${rest.join(' ')}`,
  'words from xargs': (all) => `echo ${all.at(-1)} | xargs ${all.slice(0, -1).join(' ')}`,
  'placeholder of xargs': (all) =>
    `echo ${all.at(-1)} | xargs -I{} ${all.slice(0, -1).join(' ')} {}`,
  'word from a loop': (all) =>
    `echo ${all.at(-1)} | while read -r l; do ${all.slice(0, -1).join(' ')} $l; done`,
  'escaped blanks of env': (all) => `env -S '${all.join('\\_')}'`,
  'another architecture': (all) =>
    `setarch $(uname -m) -R ${all.join(' ')}`.replace('$(uname -m) ', ''),
  'limits of a process': (all) => `prlimit --nofile=64 ${all.join(' ')}`,
  'rights of a process': (all) => `setpriv --no-new-privs ${all.join(' ')}`,
  'score of a process': (all) => `choom -n 0 -- ${all.join(' ')}`,
  'awk with a program': (all) => `awk 'BEGIN{system("${all.join(' ')}")}'`,
  'awk with a pipe': (all) => `awk 'BEGIN{print "${all.join(' ')}" | "sh"}'`,
  'command of sed': (all) => `echo x | sed '1e ${all.join(' ')}'`,
  'flag of sed': (all) => `echo '${all.join(' ')}' | sed 's/^//e'`,
  'filter of split': (all) => `echo x | split --filter='${all.join(' ')}'`,
  'action of tar': (all) =>
    `tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='${all.join(' ')}' .`,
};

/** Returns command lines that print the source in every way, and command lines that run it in every way. */
export const printed = (source: string): readonly string[] => [
  ...Object.values(PRODUCERS).flatMap((produce) =>
    ['pipe to a shell', 'substitution', 'eval', 'variable', 'script file'].map(
      (name) => CONSUMERS[name]?.(produce(source)) ?? '',
    ),
  ),
  ...Object.values(CONSUMERS).flatMap((consume) =>
    ['echo', 'base64 twice', 'variable', 'loop over letters'].map((name) =>
      consume(PRODUCERS[name]?.(source) ?? ''),
    ),
  ),
];
/** Returns command lines that spell the words of the source in every way. */
export const spelled = (source: string) =>
  Object.values(SPELLINGS).map((spell) => spell(source.split(' ')));
