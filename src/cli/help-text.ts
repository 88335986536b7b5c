/** Help text below the lists of flags and commands: examples, settings, environment, exit codes. */

export const HELP_TEXT = `
Examples:
  skein                                         an interactive session; /help lists its commands
  skein "what does this project do?"            the same, with a first prompt
  skein demo                                    watch a swarm fix a failing test; needs no key
  skein doctor                                  check what works on this machine
  skein -p "what does this project do?"         one answer, then exit
  git diff | skein -p "review this change"      the prompt may come from stdin
  skein -p "fix the tests" --permission-mode acceptEdits --allowed-tools "Bash(npm test)"
  skein -p --continue "and now the docs"        resume the newest session of this directory
  skein -p "list the exports" --output-format json | jq -r .result
  skein agents                                  the agents that a lead can delegate to
  skein top                                     in a second terminal: every agent, live
  skein ps                                      print the trees of agents once
  skein -p "add a changelog" --ask              waits for skein inbox and skein approve elsewhere
  skein sessions --all --search "flaky"         find sessions by their text
  skein cost                                    what the newest session here cost
  skein report                                  an HTML page of that session
  skein replay --speed 10                       play that session back, also backwards
  skein explain 3                               why its third call ran or did not run
  skein context                                 what fills its context window
  skein prompt                                  the prompt that a new session starts with

Settings:
  ~/.claude/settings.json, ~/.skein/settings.json      user settings
  .claude/settings.json, settings.local.json           project settings; also in .skein/
  skein config shows every value and where it comes from. Allow rules, env and skein keys of a
  project apply after skein trust.

Environment:
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN    credentials; one of them is required
  ANTHROPIC_BASE_URL, ANTHROPIC_MODEL        another server, another model
  SKEIN_HOME                                 state directory (~/.skein)
  SKEIN_…                                    any setting: skein.maxBudgetUsd is SKEIN_MAX_BUDGET_USD
  SKEIN_TRUST=1                              trust the workspace, as --trust does
  HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS the usual network settings

Exit codes:
  0 done   1 failed   2 wrong usage or configuration   3 a limit was reached   130 interrupted

skein help <command> shows the help of a command.`;
