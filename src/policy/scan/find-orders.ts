/**
 * Finds text that gives orders to its reader: prompt injection in web pages, reports and letters.
 *
 * Every pattern needs several words that rarely stand together in other text, because a warning that is
 * often wrong is ignored. The patterns are English. All repetitions are bounded, so the search is linear.
 */

import { ORDER_KINDS, type OrderKind } from '../../protocol/permission/order-kind.js';

/** Longer text is searched up to here. Results of tools are shorter. In characters. */
const MAX_LENGTH = 500_000;

/** Returns the kinds of orders in the text, in the order of `ORDER_KINDS`, each once. */
export const findOrders = (text: string): readonly OrderKind[] => {
  const words = wordsOf(text.slice(0, MAX_LENGTH));
  return ORDER_KINDS.filter((kind) => PATTERNS[kind].test(words));
};

/** Returns the text in lower case with single blanks, without markup, quotes and invisible characters. */
const wordsOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(INVISIBLE, '')
    .toLowerCase()
    .replaceAll(/[\s*_`~>#|"'\u2018-\u201f()[\]{}=<\\-]+/g, ' ');

const INVISIBLE = /[\p{Cf}\p{Mn}\u{e0000}-\u{e0fff}]/gu;

const EARLIER = '(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing)';
const RULES = '(?:instructions?|directions|directives|guidelines|prompts?|system prompt|orders)';
const FILLER =
  '(?:all|any|every|of|the|your|these|those|other|and|or|system|previous|prior|earlier)';
const AI =
  '(?:ais?|llms?|language models?|large language models?|chatbots?|(?:ai|llm) (?:agents?|assistants?|models?|systems?|readers?|reviewers?|crawlers?|summari[sz]ers?)|coding (?:agents?|assistants?)|(?:autonomous|automated) agents?)';
const PERSON = '(?:user|users|human|humans|operator|developer|owner|person|lead agent)';
const NOT = '(?:do not|don t|never|must not|should not|without)';

const anyOf = (...patterns: readonly string[]): RegExp =>
  new RegExp(patterns.map((pattern) => `\\b(?:${pattern})\\b`).join('|'));

const PATTERNS: Readonly<Record<OrderKind, RegExp>> = {
  override: anyOf(
    `(?:ignore|disregard|forget|override|discard|stop following|do not follow|don t follow|pay no attention to) (?:${FILLER} ){0,5}${EARLIER} (?:${FILLER} ){0,3}(?:\\w+ )?${RULES}`,
    `(?:ignore|disregard|forget) (?:${FILLER} ){0,4}your (?:\\w+ )?${RULES}`,
    `(?:ignore|disregard|forget) (?:${FILLER} ){0,4}${RULES} (?:above|before this|that you (?:were|have been) given|you (?:were|have been) given|given (?:to you )?(?:above|before|earlier))`,
    `(?:ignore|disregard|forget) (?:everything|anything|all) (?:that )?(?:you (?:were|have been) (?:told|taught|instructed)|(?:above|before) this)`,
    'these instructions (?:override|supersede|replace|take precedence over) (?:all |any |your |the )',
  ),
  role: anyOf(
    'you are now (?:dan|jailbroken|unrestricted|unfiltered|in (?:developer|god|admin|debug|jailbreak|maintenance|unrestricted) mode|acting as|no longer)',
    'you are no longer (?:bound|restricted|limited|constrained|required|an? (?:ai|assistant|agent|reviewer|language model|chatbot))',
    'from now on,? you (?:must|shall|are to|will (?:only|always|act|obey|respond|answer|ignore|behave|pretend|follow))',
    'enter (?:developer|god|jailbreak|unrestricted) mode',
  ),
  addressed: anyOf(
    `if you are (?:an? |the )?${AI}`,
    `(?:attention|dear|hello|hey|listen),? (?:all |any |every |the )?${AI}`,
    `(?:note|message|notice|instructions?|important|warning|reminder) (?:to|for) (?:all |any |every |the )?${AI} ?(?:reading|processing|parsing|reviewing|summari[sz]ing|visiting|:|,|that reads?)`,
    `(?:any|every|all|to the|for the) ${AI} (?:reading|processing|parsing|reviewing|summari[sz]ing|visiting) this`,
    `${AI} (?:reading|processing|parsing|visiting) this (?:\\w+ )?(?:must|should|shall|has to|have to|needs? to|are required|is required)`,
  ),
  secrecy: anyOf(
    `${NOT} (?:tell|inform|alert|notify|warn)(?:ing)? (?:your|the) ${PERSON} (?:about|of|that) (?:this|these|any of (?:this|these))`,
    `${NOT} (?:mention|reveal|disclose|report|show|explain)(?:ing)? (?:this|these|it|any of (?:this|these)|(?:this|these) \\w+) to (?:your|the) ${PERSON}`,
    `(?:keep|hide|conceal) (?:this|these|it|(?:this|these) \\w+) (?:secret |hidden |private )?from (?:your|the) ${PERSON}`,
    `${NOT} (?:let|allow) (?:your|the) ${PERSON} (?:to )?(?:know|see|notice|find out) (?:about )?(?:this|these|that you)`,
  ),
  disclosure: anyOf(
    '(?:reveal|print|output|repeat|show|display|leak|disclose|recite|send|return|include) (?:me |us )?(?:all of |the full |the whole |the entire |the exact )?(?:your|the (?:hidden|secret|initial|original)) (?:\\w+ )?(?:system prompt|hidden instructions|initial instructions|original instructions|system instructions|secret instructions)',
    '(?:send|post|upload|forward|email|transmit|submit|exfiltrate|leak|append|write) [^!?]{0,60}(?:\\b(?:credentials|api keys?|private keys?|ssh keys?|secrets|passwords|environment variables|access tokens|id rsa|system prompt|conversation history|chat history)|\\.env)\\b[^!?]{0,60}\\bto (?:https?|this (?:url|address|server|endpoint|email|webhook)|the following (?:url|address|server|endpoint|email|webhook)|the attacker)',
    'exfiltrate (?:the|your|all|any)',
  ),
  approval: anyOf(
    `(?:your|the) (?:user|operator|owner|lead agent|human|administrator) (?:has |have )?(?:already |pre ?)(?:approved|authori[sz]ed|consented to|allowed|granted|confirmed) (?:this|these|all|any|every|you|it|the following|permission)`,
    'you (?:have|were|have been) (?:already )?(?:been )?(?:given |granted )?(?:full |explicit |all )?(?:permission|authori[sz]ation|approval|clearance) (?:from|by|of) (?:your|the) (?:user|operator|owner|administrator|lead)',
    '(?:permission|safety|security) (?:checks|rules|prompts|restrictions|guidelines|filters) (?:are|have been|were) (?:now )?(?:disabled|lifted|suspended|turned off|removed) (?:for (?:you|this session|this task)|so you)',
    '(?:no|without) (?:further |any )?(?:confirmation|permission|approval) (?:is )?(?:needed|required|necessary) from (?:your|the) (?:user|operator|owner)',
  ),
  imitation: anyOf(
    '(?:new|updated|revised|additional|emergency) (?:system|developer|operator|administrator) (?:instructions?|prompts?|messages?|directives?|commands?) ?[:!]? (?:you|ignore|disregard|do|run|execute|from|stop|the|your|please|always|never)',
    'system (?:override|alert|command) ?: (?:you|ignore|disregard|do|run|execute|from|stop|your|please|all|new)',
    'end of (?:the )?(?:untrusted|external|tool|user|web|retrieved) (?:data|content|text|input|output|results?)[.!]? (?:now|you|new|the (?:user|system)|system|continue by)',
  ),
};
