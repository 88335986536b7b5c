/** Reads memory files and what they include, in order, each real path once. */
import { dirname } from 'node:path';
import { splitFrontMatter } from '../lib/text/split-front-matter.js';
import type {
  ConditionalRule,
  MemoryDisk,
  MemoryFile,
  MemoryLayer,
  ResolvedMemoryPath,
} from '../protocol/tools/memory.js';
import { Admission, type AdmissionOptions, type Candidate } from './admission.js';
import { DEEPEST_INCLUDE, LARGE_FILE, LARGEST_FILE, LARGEST_LEXED } from './bounds.js';
import { readPaths } from './front-matter.js';
import { resolveInclude } from './include-names.js';
import type { LayerBudget } from './layer-budget.js';
import { readMarkdown } from './markdown.js';
import { type Notices, named } from './notices.js';
import { compilePaths, type RuleMatcher } from './rule-paths.js';
import { decodeText, isBinary, isMarkdownName } from './text-kinds.js';

/** Where a file was looked for, and what holds there. */
export interface Origin {
  readonly layer: MemoryLayer;
  readonly budget: LayerBudget;
  /** Where links in the place of a file may lead, and where includes may, without leave. */
  readonly linkFolders: readonly string[];
  readonly includeFolders: readonly string[];
  readonly isUnguarded: boolean;
  /** Of rules: what their paths are relative to, by name and really. */
  readonly bases?: readonly string[];
}

/** What a rule and all that it includes depend on. */
interface Condition {
  readonly paths: readonly string[];
  readonly bases: readonly string[];
  readonly matcher: RuleMatcher;
}

export interface LoadedRule {
  readonly rule: ConditionalRule;
  readonly bases: readonly string[];
  readonly matcher: RuleMatcher;
}

interface Reading {
  readonly path: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly origin: Origin;
  readonly condition: Condition | undefined;
}

export class MemoryLoader {
  readonly files: MemoryFile[] = [];
  readonly rules: LoadedRule[] = [];
  readonly admission: Admission;
  private readonly disk: MemoryDisk;
  private readonly notices: Notices;
  private readonly home: string;
  /** By name and by real path. A rule that may never apply does not stand in for a file that does. */
  private readonly always = new Set<string>();
  private readonly sometimes = new Set<string>();

  constructor(options: AdmissionOptions & { readonly home: string }) {
    this.disk = options.disk;
    this.notices = options.notices;
    this.home = options.home;
    this.admission = new Admission(options);
  }

  /** A file in a place where memory files are looked for. */
  async found(path: string, origin: Origin): Promise<void> {
    if (this.sometimes.has(path) || !origin.budget.mayLook()) return;
    await this.read({ path, parent: null, depth: 0, origin, condition: undefined });
  }

  private async read(reading: Reading): Promise<void> {
    const { path, parent, origin } = reading;
    const candidate = candidateOf(reading);
    if (this.isKnown(path, reading) || !this.admission.mayLook(candidate)) return;
    const place = await this.disk.resolve(path);
    // What is missing is not worth a word: files are copied from project to project.
    if (place === undefined || place.kind === 'directory') return;
    if (this.isKnown(place.real, reading)) return;
    if (reading.depth >= DEEPEST_INCLUDE) {
      this.notices.say(
        `${named(path)}, which ${named(parent ?? path)} includes, is not read: ` +
          `includes go ${DEEPEST_INCLUDE - 1} files deep.`,
      );
      return;
    }
    if (!this.admission.mayRead(candidate, place)) return;
    const source = await this.textOf(path, place);
    if (source === undefined) return;

    const { body, condition = reading.condition } = await this.bodyOf(source, reading);
    const known = condition === undefined ? this.always : this.sometimes;
    known.add(path).add(place.real);
    const { text, includes } = await this.markdownOf(body, reading);
    if (text.trim() !== '' && !this.keep(text, reading, condition)) return;
    for (const name of includes) {
      if (!origin.budget.mayLook()) return;
      const next = resolveInclude(name, dirname(path), this.home);
      const depth = reading.depth + 1;
      await this.read({ path: next, parent: path, depth, origin, condition });
    }
  }

  private isKnown(path: string, { parent, condition }: Reading) {
    const isSometimes = parent === null || condition !== undefined;
    return this.always.has(path) || (isSometimes && this.sometimes.has(path));
  }

  private async textOf(path: string, { real }: ResolvedMemoryPath): Promise<string | undefined> {
    const bytes = await this.disk.read(real, LARGEST_FILE);
    if (bytes === 'too-large') {
      return this.leaveOut(path, `it has more than ${LARGEST_FILE} bytes`);
    }
    if (bytes === 'unreadable') return this.leaveOut(path, 'it cannot be read');
    if (isBinary(bytes)) return this.leaveOut(path, 'it is not text in UTF-8');
    return decodeText(bytes);
  }

  private leaveOut(path: string, why: string): undefined {
    this.notices.say(`${named(path)} is left out: ${why}.`);
    return undefined;
  }

  private async bodyOf(
    source: string,
    { path, parent, origin: { bases } }: Reading,
  ): Promise<{ readonly body: string; readonly condition?: Condition }> {
    if (!isMarkdownName(path)) return { body: source };
    const { head, body: rest } = splitFrontMatter(source);
    const body = head === undefined ? rest : rest.replace(/^\n+/, '');
    const isRule = bases !== undefined && parent === null;
    if (head === undefined || !isRule) return { body };
    const read = await readPaths(head);
    const compiled = 'problem' in read ? read : compilePaths(read.paths);
    if ('problem' in compiled) {
      this.notices.say(`${named(path)} ${compiled.problem}; it is taken to hold for every file.`);
      return { body };
    }
    const { patterns, matcher } = compiled;
    return patterns.length === 0
      ? { body }
      : { body, condition: { paths: patterns, bases, matcher } };
  }

  private async markdownOf(body: string, { path, origin }: Reading) {
    const plain = { text: body, includes: [] as readonly string[] };
    if (!isMarkdownName(path) || !/@|<!--/.test(body)) return plain;
    const isShort = body.length <= LARGEST_LEXED && origin.budget.mayLex(body.length);
    const markdown = isShort ? await readMarkdown(body) : undefined;
    if (markdown === undefined || markdown.isPartial) {
      this.notices.say(
        `${named(path)} is too long or too tangled to be searched for all that it includes.`,
      );
    }
    return markdown ?? plain;
  }

  private keep(text: string, { path, parent, origin }: Reading, condition: Condition | undefined) {
    if (!origin.budget.take(path, text.length)) return false;
    const isLarge = text.length > LARGE_FILE;
    const file = { layer: origin.layer, path, parent, text, isLarge };
    if (condition === undefined) this.files.push(file);
    else {
      const { paths, bases, matcher } = condition;
      const rule = { ...file, paths, base: bases[0] ?? dirname(path) };
      this.rules.push({ rule, bases, matcher });
    }
    return true;
  }
}

const candidateOf = ({ path, parent, origin }: Reading): Candidate => ({
  path,
  parent,
  layer: origin.layer,
  folders: parent === null ? origin.linkFolders : origin.includeFolders,
  isUnguarded: origin.isUnguarded && parent === null,
});
