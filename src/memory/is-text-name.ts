/**
 * Decides by file extension which files may be included: files written by people, not by programs.
 */
import { extname } from 'node:path';

const TEXT = new Set(
  `
  md mdx markdown mdc txt text rst adoc asciidoc org tex
  json jsonc json5 jsonl yaml yml toml ini cfg conf properties xml csv tsv
  js jsx mjs cjs ts tsx mts cts vue svelte astro html htm css scss sass less
  py pyi rb rs go java kt kts scala groovy gradle c h cc cpp cxx hpp hh m mm cs fs swift dart
  php pl pm lua r jl ex exs erl hrl clj cljs hs ml mli elm nim zig
  sh bash zsh fish ps1 bat cmd
  sql graphql gql proto prisma tf hcl nix cmake mk dockerfile diff patch log lock
  `
    .trim()
    .split(/\s+/),
);

/** Files that may include others. In source code `@` is a decorator, a recipe or a package. */
const MARKDOWN = new Set(['.md', '.mdx', '.markdown', '.mdc', '.txt']);

const ending = (path: string) => extname(path).toLowerCase();

/** True for text extensions and for names without an extension, such as Makefile and LICENSE. */
export const isTextName = (path: string): boolean => {
  const end = ending(path);
  return end === '' || TEXT.has(end.slice(1));
};

export const isMarkdownName = (path: string): boolean => MARKDOWN.has(ending(path));
