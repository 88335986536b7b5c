/**
 * Context provider of a run: makes the system prompt, the preamble of the first message and
 * reminders. Memory files and the repository are read once per session; prompt sections are built from them.
 */
import type { MemoryFiles } from '../../../memory/memory-files.js';
import { shortPath } from '../../../prompt/escape-tags.js';
import {
  type AmbientFacts,
  branchText,
  factReminders,
  preambleFacts,
} from '../../../prompt/messages/fact-reminders.js';
import {
  type InstructionBlock,
  instructionBlocks,
  instructionText,
  ruleText,
  type Trimmed,
  trimInstructions,
} from '../../../prompt/messages/instruction-block.js';
import { ruleReminders } from '../../../prompt/messages/rule-reminders.js';
import { userContext } from '../../../prompt/messages/user-context.js';
import { attributionText, promptHead, simpleHead } from '../../../prompt/request/prompt-head.js';
import { assemblePrompt, hasBoundary } from '../../../prompt/system/assemble-prompt.js';
import { choosePrompt, type PromptChoices } from '../../../prompt/system/choose-prompt.js';
import {
  dynamicSections,
  type McpInstructions,
  type PromptFacts,
} from '../../../prompt/system/dynamic-sections.js';
import type { PromptPiece } from '../../../prompt/system/section.js';
import { SectionRegistry } from '../../../prompt/system/section-registry.js';
import { sectionTexts } from '../../../prompt/system/section-texts.js';
import {
  BREAKER,
  repositoryText,
  SNAPSHOT,
  systemContext,
} from '../../../prompt/system/system-context.js';
import type {
  ContextProvider,
  Preamble,
  PreambleFile,
} from '../../../protocol/model/context-provider.js';
import type { CacheTtl, PromptHead } from '../../../protocol/model/prompt-head.js';
import type { Capabilities } from '../../../protocol/model/providers.js';
import type { RawJson } from '../../../protocol/model/wire-block.js';
import type { PermissionMode } from '../../../protocol/permission/permission-mode.js';
import type { ConditionalRule, Memory } from '../../../protocol/tools/memory.js';
import type { RepositoryFacts } from '../../../protocol/tools/repository-facts.js';

export interface ContextProviderOptions {
  readonly memory: Pick<MemoryFiles, 'load' | 'reset' | 'nearby'>;
  /** Reads the repository, once per session. Resolves with undefined outside a repository. */
  readonly repository: (cwd: string) => Promise<RepositoryFacts | undefined>;
  /** Returns the current branch. Called before every message. */
  readonly branch: () => string | undefined;
  /** Returns the current date as YYYY-MM-DD. */
  readonly today: () => string;
  readonly mode: () => PermissionMode;
  /** Facts for the prompt sections, except the facts that this provider finds itself. */
  readonly facts: Omit<
    PromptFacts,
    'memoryFiles' | 'hasRules' | 'model' | 'environment' | 'mcpInstructions' | 'tools' | 'mayFork'
  > & { readonly environment: Omit<PromptFacts['environment'], 'cwd' | 'isGitRepository'> };
  readonly isGitRepository: (cwd: string) => boolean;
  readonly wishes: PromptChoices;
  readonly tools: RawJson;
  readonly hasMcpTools: boolean;
  readonly mcpInstructions: () => readonly McpInstructions[];
  /** True if MCP servers are described in reminders instead of the system prompt. */
  readonly mcpDelta: boolean;
  readonly capabilities: Capabilities;
  readonly betasDisabled: boolean;
  readonly ttl: CacheTtl;
  /** True if the system prompt is one line instead of all sections. */
  readonly isSimple: boolean;
  readonly breaker: string;
  /** Maximum characters of all instruction files together. */
  readonly memoryCharacters: number;
  readonly notify: (sentence: string) => void;
}

export const contextProvider = (options: ContextProviderOptions): ContextProvider => {
  const { memory, capabilities, mcpDelta } = options;
  const registry = new SectionRegistry(dynamicSections(mcpDelta));
  const ownTools = shownTools(options.tools);
  const boundary = hasBoundary(capabilities.provider, options.betasDisabled);
  const notified = new Set<string>();
  const notifyOnce = (sentences: readonly string[]) => {
    for (const sentence of sentences) {
      if (!notified.has(sentence)) options.notify(sentence);
      notified.add(sentence);
    }
  };
  let repository: Promise<RepositoryFacts | undefined> | undefined;
  const readRepository = (cwd: string) => {
    repository ??= options.repository(cwd);
    return repository;
  };
  const loadMemory = async (): Promise<Memory> => {
    const found = await memory.load();
    notifyOnce([
      ...found.notices,
      ...found.files.filter(({ isLarge }) => isLarge).map(largeNotice),
    ]);
    return found;
  };
  let preamble: Promise<Preamble> | undefined;
  /** True after `renew()`: the next head is rebuilt. Until then only sections that may change are. */
  let isRenewed = false;
  const ambient = (): AmbientFacts => ({
    date: options.today(),
    mode: options.mode(),
    canShowPlan: ownTools.includes('ExitPlanMode'),
    branch: options.branch() ?? null,
    mcp: mcpDelta ? options.mcpInstructions() : null,
  });
  const buildPreamble = async (): Promise<Preamble> => {
    const found = await loadMemory();
    const trimmed = trimInstructions(instructionBlocks(found.files), options.memoryCharacters);
    notifyOnce(leftOutNotices(trimmed.dropped));
    const now = ambient();
    const isKnown = now.branch === null || now.branch === (await repository)?.branch;
    const changes = isKnown ? [] : [branchText(now.branch ?? '')];
    const files = preambleFiles(trimmed, found.rules);
    return { text: userContext(trimmed, now, changes), facts: preambleFacts(now), files };
  };
  return {
    get mayChange() {
      return registry.mayChange && !options.isSimple;
    },
    isStale: (head) => !options.isSimple && breakerOf(sectionTexts(head)) !== options.breaker,
    renew() {
      isRenewed = true;
      registry.clear();
      memory.reset();
      preamble = undefined;
    },
    async head({ cwd, model, version, entrypoint, kept }) {
      const { tools, ttl } = kept ?? options;
      if (options.isSimple) return simpleHead(cwd, options.today(), tools, ttl);
      const former = kept === undefined ? undefined : sectionTexts(kept);
      // The repository is read once per session, unless the cache breaker changed.
      const known = former?.get(SNAPSHOT);
      const isKept = former !== undefined && breakerOf(former) === options.breaker;
      const [found, snapshot] = await Promise.all([
        loadMemory(),
        isKept ? undefined : readRepository(cwd),
      ]);
      // The text depends on the tools in the prompt, which a resumed session keeps.
      const shown = shownTools(tools);
      const dynamic = registry.resolve({
        ...options.facts,
        tools: shown,
        mayFork: shown.includes('Task'),
        memoryFiles: found.files,
        hasRules: found.rules.length > 0,
        model,
        mcpInstructions: options.mcpInstructions(),
        environment: {
          ...options.facts.environment,
          cwd,
          isGitRepository: options.isGitRepository(cwd),
        },
      });
      if (kept !== undefined && isKept && !isRenewed && isUnchanged(kept, dynamic)) return kept;
      isRenewed = false;
      const text = isKept ? known : snapshot && repositoryText(snapshot, shown.includes('Bash'));
      const context = systemContext(text, options.breaker);
      const pieces = choosePrompt(
        assemblePrompt(dynamic, boundary, shown),
        options.wishes,
        context,
      );
      return promptHead(pieces, {
        tools,
        ttl,
        capabilities,
        hasMcpTools: options.hasMcpTools,
        attribution: attributionText(version, entrypoint),
      });
    },
    preamble() {
      preamble ??= buildPreamble();
      return preamble;
    },
    async reminders(known, touched) {
      const changed = factReminders(known, ambient());
      if (touched.length === 0) return changed;
      const { rules } = await loadMemory();
      const near = await memory.nearby(touched);
      const { reminders, dropped } = ruleReminders(known, [...near.files, ...near.rules], {
        known: [...near.files, ...rules],
        room: options.memoryCharacters,
      });
      notifyOnce([...near.notices, ...leftOutNotices(dropped)]);
      return [...reminders, ...changed];
    },
  };
};

/** Returns the tool names in a prompt head, in order. */
export const shownTools = (tools: RawJson): readonly string[] =>
  (JSON.parse(tools) as readonly { readonly name: string }[]).map(({ name }) => name);

const breakerOf = (texts: ReadonlyMap<string, string>): string => texts.get(BREAKER) ?? '';

/** True if the sections that may change between turns are the same, with the same text. */
const isUnchanged = (kept: PromptHead, now: readonly PromptPiece[]): boolean => {
  const texts = sectionTexts(kept);
  const was = kept.sections.flatMap(({ name, mayChange }) => (mayChange ? [name] : []));
  const is = now.filter(({ mayChange }) => mayChange !== undefined);
  return was.length === is.length && is.every(({ name, text }) => texts.get(name) === text);
};

const preambleFiles = (
  { kept, dropped }: Trimmed,
  rules: readonly ConditionalRule[],
): readonly PreambleFile[] => {
  const fileOf = (block: InstructionBlock, fate: PreambleFile['fate']): PreambleFile => {
    const { source: layer, path, parent } = block;
    return { layer, path, parent, fate, text: instructionText(block) };
  };
  return [
    ...kept.map((block) => fileOf(block, 'told')),
    ...dropped.map((block) => fileOf(block, 'left out')),
    ...rules.map((rule): PreambleFile => {
      const { layer, path, parent, paths } = rule;
      return { layer, path, parent, fate: 'waits', paths, text: ruleText(rule) };
    }),
  ];
};

const MAX_DROPPED_SHOWN = 10;

const leftOutNotices = (dropped: readonly InstructionBlock[]): readonly string[] => {
  const why = 'left out of the prompt: instruction files are too long together';
  const more = dropped.length - MAX_DROPPED_SHOWN;
  return [
    ...dropped.slice(0, MAX_DROPPED_SHOWN).map(({ path }) => `${shortPath(path)} is ${why}.`),
    ...(more > 0 ? [`${more} more files are ${why}.`] : []),
  ];
};

const largeNotice = ({ path, text }: { path: string; text: string }): string =>
  `${path} has ${text.length} characters, and every conversation here pays for them; keep it below 40,000.`;
