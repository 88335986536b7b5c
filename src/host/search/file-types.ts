/** File types by name pattern, with the type names of ripgrep. */

const TYPES: Readonly<Record<string, string>> = {
  c: '*.[ch]',
  cpp: '*.{cpp,cc,cxx,c++,hpp,hh,hxx,h++,h,inl}',
  cs: '*.{cs,csx}',
  css: '*.{css,scss,sass,less}',
  csv: '*.csv',
  dart: '*.dart',
  docker: '{Dockerfile,Dockerfile.*,*.dockerfile}',
  elixir: '*.{ex,exs,eex,heex}',
  erlang: '*.{erl,hrl}',
  go: '*.go',
  graphql: '*.{graphql,graphqls}',
  haskell: '*.{hs,lhs}',
  html: '*.{html,htm}',
  java: '*.java',
  js: '*.{js,jsx,mjs,cjs,vue}',
  json: '*.{json,jsonc,json5,jsonl}',
  kotlin: '*.{kt,kts}',
  lua: '*.lua',
  make: '{Makefile,makefile,GNUmakefile,*.mk,*.mak}',
  markdown: '*.{md,markdown,mdx}',
  perl: '*.{pl,pm,t}',
  php: '*.{php,phtml}',
  protobuf: '*.proto',
  py: '*.{py,pyi}',
  r: '*.{R,r,Rmd}',
  ruby: '*.{rb,gemspec,rake}',
  rust: '*.rs',
  scala: '*.{scala,sbt}',
  sh: '*.{sh,bash,zsh,ksh,fish}',
  sql: '*.sql',
  svelte: '*.svelte',
  swift: '*.swift',
  tf: '*.{tf,tfvars}',
  toml: '*.toml',
  ts: '*.{ts,tsx,mts,cts}',
  txt: '*.txt',
  vue: '*.vue',
  xml: '*.{xml,xsd,xsl,svg}',
  yaml: '*.{yaml,yml}',
  zig: '*.zig',
};

const ALIASES: Readonly<Record<string, string>> = {
  csharp: 'cs',
  javascript: 'js',
  md: 'markdown',
  python: 'py',
  rb: 'ruby',
  rs: 'rust',
  terraform: 'tf',
  typescript: 'ts',
  yml: 'yaml',
};

export const FILE_TYPES = Object.keys(TYPES);

/** Returns the glob of a type. Returns undefined for an unknown type. */
export const globOfType = (type: string): string | undefined => {
  const name = Object.hasOwn(ALIASES, type) ? (ALIASES[type] ?? type) : type;
  return Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
};
