/** Loads memory files and their includes in order, each real path once. */
import { dirname } from 'node:path';
import { splitFrontMatter } from '../lib/text/split-front-matter.js';
import type {
  ConditionalRule,
  MemoryDisk,
  MemoryFile,
  MemoryLayer,
  ResolvedMemoryPath,
} from '../protocol/tools/memory.js';
import { compileRulePaths, type RuleMatcher } from './compile-rule-paths.js';
import { decodeText, isBinary } from './decode-text.js';
import { resolveInclude } from './include-names.js';
import { isMarkdownName } from './is-text-name.js';
import type { LayerBudget } from './layer-budget.js';
import { readMarkdown } from './markdown.js';
import {
  MemoryAdmission,
  type MemoryAdmissionOptions,
  type MemoryCandidate,
} from './memory-admission.js';
import { MEMORY_LIMITS } from './memory-limits.js';
import { type MemoryNotices, printablePath } from './memory-notices.js';
import { readRulePaths } from './read-rule-paths.js';

/** Location that a memory file was found in, with its limits. */
export interface MemorySource {
  readonly layer: MemoryLayer;
  readonly budget: LayerBudget;
  /** Folders that a symbolic link or an include may point to without approval. */
  readonly linkFolders: readonly string[];
  readonly includeFolders: readonly string[];
  readonly isUnguarded: boolean;
  /** Folders that the paths of rules are relative to, as named and as real path. Rules only. */
  readonly bases?: readonly string[];
}

/** Condition under which a rule and its includes apply. */
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
  readonly origin: MemorySource;
  readonly condition: Condition | undefined;
}

export class MemoryLoader {
  readonly files: MemoryFile[] = [];
  readonly rules: LoadedRule[] = [];
  readonly admission: MemoryAdmission;
  private readonly disk: MemoryDisk;
  private readonly notices: MemoryNotices;
  private readonly home: string;
  /** Loaded paths, named and real. Separate sets, because a conditional rule does not replace an unconditional file. */
  private readonly unconditional = new Set<string>();
  private readonly conditional = new Set<string>();

  constructor(options: MemoryAdmissionOptions & { readonly home: string }) {
    this.disk = options.disk;
    this.notices = options.notices;
    this.home = options.home;
    this.admission = new MemoryAdmission(options);
  }

  /** Loads a file from a memory location, with its includes. */
  async load(path: string, origin: MemorySource): Promise<void> {
    if (this.conditional.has(path) || !origin.budget.mayLook()) return;
    await this.read({ path, parent: null, depth: 0, origin, condition: undefined });
  }

  private async read(reading: Reading): Promise<void> {
    const { path, parent, origin } = reading;
    const candidate = candidateOf(reading);
    if (this.isLoaded(path, reading) || !this.admission.mayLook(candidate)) return;
    const resolved = await this.disk.resolve(path);
    // No notice for a missing file, because memory files are often copied between projects.
    if (resolved === undefined || resolved.kind === 'directory') return;
    if (this.isLoaded(resolved.real, reading)) return;
    if (reading.depth >= MEMORY_LIMITS.includeDepth) {
      this.notices.add(
        `${printablePath(path)}, which ${printablePath(parent ?? path)} includes, is not read: ` +
          `includes go ${MEMORY_LIMITS.includeDepth - 1} files deep.`,
      );
      return;
    }
    if (!this.admission.mayRead(candidate, resolved)) return;
    const source = await this.textOf(path, resolved);
    if (source === undefined) return;

    const { body, condition = reading.condition } = await this.bodyOf(source, reading);
    const loaded = condition === undefined ? this.unconditional : this.conditional;
    loaded.add(path).add(resolved.real);
    const { text, includes } = await this.markdownOf(body, reading);
    if (text.trim() !== '' && !this.keep(text, reading, condition)) return;
    for (const name of includes) {
      if (!origin.budget.mayLook()) return;
      const next = resolveInclude(name, dirname(path), this.home);
      const depth = reading.depth + 1;
      await this.read({ path: next, parent: path, depth, origin, condition });
    }
  }

  private isLoaded(path: string, { parent, condition }: Reading) {
    const isSometimes = parent === null || condition !== undefined;
    return this.unconditional.has(path) || (isSometimes && this.conditional.has(path));
  }

  private async textOf(path: string, { real }: ResolvedMemoryPath): Promise<string | undefined> {
    const bytes = await this.disk.read(real, MEMORY_LIMITS.fileBytes);
    if (bytes === 'too-large') {
      return this.leaveOut(path, `it has more than ${MEMORY_LIMITS.fileBytes} bytes`);
    }
    if (bytes === 'unreadable') return this.leaveOut(path, 'it cannot be read');
    if (isBinary(bytes)) return this.leaveOut(path, 'it is not text in UTF-8');
    return decodeText(bytes);
  }

  private leaveOut(path: string, why: string): undefined {
    this.notices.add(`${printablePath(path)} is left out: ${why}.`);
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
    const read = await readRulePaths(head);
    const compiled = 'problem' in read ? read : compileRulePaths(read.paths);
    if ('problem' in compiled) {
      this.notices.add(
        `${printablePath(path)} ${compiled.problem}; the rule applies to every file.`,
      );
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
    const isShort =
      body.length <= MEMORY_LIMITS.lexedFileCharacters && origin.budget.mayLex(body.length);
    const markdown = isShort ? await readMarkdown(body) : undefined;
    if (markdown === undefined || markdown.isPartial) {
      this.notices.add(
        `${printablePath(path)} is too long or too deeply nested to be searched completely for includes.`,
      );
    }
    return markdown ?? plain;
  }

  private keep(text: string, { path, parent, origin }: Reading, condition: Condition | undefined) {
    if (!origin.budget.take(path, text.length)) return false;
    const isLarge = text.length > MEMORY_LIMITS.largeFileCharacters;
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

const candidateOf = ({ path, parent, origin }: Reading): MemoryCandidate => ({
  path,
  parent,
  layer: origin.layer,
  allowedFolders: parent === null ? origin.linkFolders : origin.includeFolders,
  isUnguarded: origin.isUnguarded && parent === null,
});
