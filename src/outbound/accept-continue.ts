import type { buildConnector } from 'undici'

/** The part of undici that parses the responses of a connection. */
interface Parser {
  onHeadersComplete(status: number, isUpgrade: boolean, shouldKeepAlive: boolean): number
}

/**
 * Lets servers send `100 Continue`. undici skips all other informational responses, but closes the connection at this
 * one, because it never asks for it. Clients must be able to parse it (RFC 9110 §15.2), and some servers and proxies
 * always send it, so that each delivery would be repeated although it arrived. No option of undici changes this. So its
 * parser is told about another informational status.
 */
export function acceptContinue(connect: buildConnector.connector): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return done(error, null)
      done(null, socket) // creates the parser
      const parser = findParser(socket)
      if (parser === undefined) return
      const parse = parser.onHeadersComplete
      parser.onHeadersComplete = function onHeadersComplete(status, isUpgrade, shouldKeepAlive) {
        return parse.call(this, status === 100 ? 102 : status, isUpgrade, shouldKeepAlive)
      }
    })
}

/** undici keeps it at the socket, under a symbol that it does not export. */
function findParser(socket: object): Parser | undefined {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const found = key === undefined ? undefined : (socket as Readonly<Record<symbol, unknown>>)[key]
  return typeof (found as Partial<Parser> | null | undefined)?.onHeadersComplete === 'function'
    ? (found as Parser)
    : undefined
}
