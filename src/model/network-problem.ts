/** Explains a network error: what to check, and whether more attempts are likely to help. */

interface NetworkProblem {
  /** A sentence that says what to check. */
  readonly advice: string;
  /** True if the cause is likely to stay. */
  readonly isPermanent: boolean;
}

/** Fields of the errors of node:net, node:dns and node:tls. */
interface NetworkError {
  readonly code?: string;
  readonly address?: string;
  /** Errors of all addresses of a host. */
  readonly errors?: readonly unknown[];
}

export const networkProblem = (error: unknown): NetworkProblem => {
  const { code = '', address = '', errors = [] } = (error ?? {}) as NetworkError;
  if (errors.length > 0) {
    const problems = errors.map(networkProblem);
    return problems.find(({ isPermanent }) => !isPermanent) ?? (problems[0] as NetworkProblem);
  }
  if (code === 'ECONNREFUSED' && LOOPBACK.test(address)) return NO_LOCAL_SERVER;
  if (code === 'ENOTFOUND') return UNKNOWN_HOST;
  return TLS_ERROR.test(code) ? TLS_FAILURE : UNREACHABLE;
};

/** `0.0.0.0` and `::` also lead to this machine. */
const LOOPBACK = /^(127\.|0\.0\.0\.0$|::1?$|::ffff:127\.)/;

/** Error codes of OpenSSL and node:tls. */
const TLS_ERROR =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|EPROTO$|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|INVALID_CA$|HOSTNAME_MISMATCH$)/;

const NO_LOCAL_SERVER: NetworkProblem = {
  advice: 'No program listens there: start the server, or check ANTHROPIC_BASE_URL and the proxy.',
  isPermanent: true,
};
const UNKNOWN_HOST: NetworkProblem = {
  advice: 'The host is unknown: check ANTHROPIC_BASE_URL, the proxy and the name server.',
  isPermanent: true,
};
const TLS_FAILURE: NetworkProblem = {
  advice:
    'No secure connection is possible: check ANTHROPIC_BASE_URL, the proxy, and NODE_EXTRA_CA_CERTS for a private certificate authority.',
  isPermanent: true,
};
const UNREACHABLE: NetworkProblem = {
  advice: 'Check the network, the proxy and ANTHROPIC_BASE_URL.',
  isPermanent: false,
};
