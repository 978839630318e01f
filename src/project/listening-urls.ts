import { networkInterfaces } from 'node:os'

/** The URLs of a server: for this machine, and for others if it listens on all addresses. */
export interface ListeningUrls {
  readonly url: string
  readonly network: readonly string[]
}

/** @param host the listening address */
export function listeningUrls(host: string, port: number, addresses = externalAddresses()): ListeningUrls {
  const isEvery = host === '0.0.0.0' || host === '::'
  const isLocal = isEvery || ['127.0.0.1', '::1', 'localhost'].includes(host)
  return {
    url: urlOf(isLocal ? 'localhost' : host, port),
    network: isEvery ? addresses.map((address) => urlOf(address, port)) : [],
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function externalAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
}
