/** Facts of an invented session for tests of prompt texts. */
import type { PromptFacts } from '../../src/prompt/system/dynamic-sections.js';

export const someFacts = (given: Partial<PromptFacts> = {}): PromptFacts => ({
  tools: ['Read', 'Bash', 'WebSearch'],
  isInteractive: true,
  mayFork: false,
  agents: '',
  memoryFiles: [
    { path: '/home/pat/.claude/CLAUDE.md', layer: 'user' },
    { path: '/work/AGENTS.md', layer: 'project' },
  ],
  hasRules: true,
  model: 'claude-haiku-4-5',
  defaultModel: 'claude-opus-5-5',
  environment: {
    cwd: '/work',
    platform: 'linux',
    isGitRepository: true,
    additionalDirectories: ['/shared'],
  },
  language: { text: 'Bairisch', source: 'settings' },
  outputStyle: {
    text: 'Short sentences.',
    source: 'settings',
    path: '/work/.claude/output-styles/short.md',
  },
  mcpInstructions: [{ server: 'tickets', text: 'Ask for the number first.' }],
  ceilings: ['20 turns', '3 US dollars'],
  isOneShot: true,
  ...given,
});
