/** A local web server with faulty pages. Records the requested paths. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalWeb {
  readonly url: string;
  /** `127.0.0.1:<port>`, the form of the setting. */
  readonly host: string;
  readonly requestedPaths: readonly string[];
  close(): Promise<void>;
}

type Route = (response: ServerResponse, request: IncomingMessage) => void;

const PAGE = '<html><title>Geese</title><body><h1>Geese</h1><p>They fly.</p></body></html>';
const html = { 'content-type': 'text/html; charset=utf-8' };

const ROUTES: Readonly<Record<string, Route>> = {
  '/page': (response) => response.writeHead(200, html).end(PAGE),
  '/empty': (response) => response.writeHead(200, html).end(),
  '/missing': (response) => response.writeHead(404, html).end('<p>Nobody here.</p>'),
  '/silent': () => {},
  '/slow': (response) => {
    response.writeHead(200, html);
    response.write('<p>Wait');
  },
  '/endless': (response) => {
    response.writeHead(200, html);
    const more = () => {
      while (!response.destroyed && response.write('<p>on and on</p>'.repeat(4_000)));
    };
    response.on('drain', more);
    more();
  },
  '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
  '/away': (response) => response.writeHead(302, { location: 'https://example.com/there' }).end(),
  '/to-file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/nowhere': (response) => response.writeHead(302, { location: 'http://[' }).end(),
  '/binary': (response) =>
    response
      .writeHead(200, { 'content-type': 'application/octet-stream' })
      .end(Buffer.from([0, 1, 255, 0])),
  '/broken-gzip': (response) =>
    response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end('not gzip at all'),
  '/latin1': (response) =>
    response.writeHead(200, html).end(Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65])),
  '/tags': (response) => response.writeHead(200, html).end('<div>'.repeat(200_000)),
  '/cut': (response) => {
    response.writeHead(200, { ...html, 'content-length': '1000' });
    response.write('<p>half');
    setImmediate(() => response.destroy());
  },
};

export const startLocalWeb = async (): Promise<LocalWeb> => {
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requestedPaths.push(path);
    const route = ROUTES[path.split('?')[0] ?? ''];
    if (route === undefined) response.writeHead(404).end();
    else route(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    requestedPaths,
    url: `http://${host}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
