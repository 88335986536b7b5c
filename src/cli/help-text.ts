/** The end of `skein --help`: what a newcomer needs beside the lists of flags and commands. */

export const HELP_TEXT = `
Examples:
  skein                                         a session to type at; /help tells what it knows
  skein "what does this project do?"            the same, with a first prompt
  skein demo                                    watch a swarm mend a failing test; needs no key
  skein doctor                                  is everything here that it needs?
  skein -p "what does this project do?"         one answer, then exit
  git diff | skein -p "review this change"      the prompt may come from stdin
  skein -p "fix the tests" --permission-mode acceptEdits --allowed-tools "Bash(npm test)"
  skein -p --continue "and now the docs"        go on where the last run ended
  skein -p "list the exports" --output-format json | jq -r .result
  skein agents                                  whom a lead can hand work to
  skein top                                     in a second terminal: every agent, live
  skein ps                                      the same once, as a tree of agents
  skein -p "add a changelog" --ask              waits for skein inbox and skein approve elsewhere
  skein sessions --all --search "flaky"         find what was said
  skein cost                                    what the newest session here cost
  skein report                                  the same session as an HTML page to look at or send
  skein replay --speed 10                       play it back on the screen, also backwards
  skein explain 3                               why its third call ran or did not
  skein context                                 what fills its context window
  skein prompt                                  what an agent is told before you say anything

Settings:
  ~/.claude/settings.json, ~/.skein/settings.json      yours
  .claude/settings.json, settings.local.json           the project's, and beside them .skein/
  skein config shows every value and where it came from. A project's allow rules, env and
  skein keys apply once you run skein trust.

Environment:
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN    how to sign in; one of them is needed
  ANTHROPIC_BASE_URL, ANTHROPIC_MODEL        another server, another model
  SKEIN_HOME                                 where state is kept (~/.skein)
  SKEIN_…                                    any setting: skein.maxBudgetUsd is SKEIN_MAX_BUDGET_USD
  SKEIN_TRUST=1                              trust the workspace, as --trust does
  HTTPS_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS as everywhere else

Exit codes:
  0 done   1 failed   2 wrong usage or configuration   3 a limit was reached   130 interrupted

skein help <command> tells more of one command.`;
