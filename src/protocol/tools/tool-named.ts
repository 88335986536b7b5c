/** Tool names of other programs that rules and agent definitions may contain. */

/** Other names of tools that Skein has. */
const TOOL_ALIASES: Readonly<Record<string, string>> = {
  Agent: 'Task',
  AskUserQuestion: 'AskUser',
  AgentOutputTool: 'TaskOutput',
  BashOutput: 'TaskOutput',
  KillBash: 'TaskStop',
  KillShell: 'TaskStop',
};

/** Returns Skein's name of the tool, or the name itself if it is no alias. */
export const toolNamed = (name: string): string =>
  Object.hasOwn(TOOL_ALIASES, name) ? (TOOL_ALIASES[name] ?? name) : name;

/**
 * True for a tool that other programs have and Skein lacks. Settings are shared with those programs, so a rule
 * for such a tool is no mistake.
 */
export const isForeignTool = (name: string): boolean => FOREIGN_TOOLS.has(name);

const FOREIGN_TOOLS: ReadonlySet<string> = new Set([
  'Artifact',
  'Config',
  'CronCreate',
  'CronDelete',
  'CronList',
  'DesignSync',
  'EnterPlanMode',
  'EnterWorktree',
  'ExitWorktree',
  'ListMcpResourcesTool',
  'LSP',
  'MCPSearch',
  'Monitor',
  'NotebookRead',
  'PowerShell',
  'PushNotification',
  'ReadMcpResourceTool',
  'RemoteTrigger',
  'ReportFindings',
  'ScheduleWakeup',
  'SendUserFile',
  'ShareOnboardingGuide',
  'Skill',
  'SlashCommand',
  'StructuredOutput',
  'TeamCreate',
  'TeamDelete',
  'ToolSearch',
  'WaitForMcpServers',
  'Workflow',
]);
