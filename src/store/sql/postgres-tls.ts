import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { messageOf } from '../../kit/index.ts'
import type { ClientConfig } from 'pg'
import { errors } from './errors.ts'

type Tls = NonNullable<ClientConfig['ssl']>

/** How to use TLS, as an address asks for it. */
export interface TlsOptions {
  readonly mode: string | undefined
  /** Returns the options for the next encrypted connection. Reads files again, because certificates are renewed. */
  load(): Tls | undefined
}

/** Takes the options of TLS from an address (https://www.postgresql.org/docs/current/libpq-ssl.html). */
export function takeTlsOptions(query: URLSearchParams, host: string | undefined): TlsOptions {
  const take = (name: string) => {
    const value = query.get(name) ?? undefined
    query.delete(name)
    return value
  }
  query.delete('uselibpqcompat') // of pg: it is always compatible
  const mode = joinModes(take('sslmode'), take('ssl'))
  const rootFile = take('sslrootcert')
  const isSystem = rootFile === 'system' // the certificates that Node trusts
  const root = isSystem ? undefined : rootFile
  if (isSystem && mode !== undefined && mode !== 'verify-full')
    throw wrong('sslmode', mode, 'sslrootcert=system requires verify-full')
  const certificate = take('sslcert')
  const files = { ca: ['sslrootcert', root], cert: ['sslcert', certificate], key: ['sslkey', take('sslkey')] } as const
  const anyName = { checkServerIdentity: () => undefined }
  // For an IP address, `pg` would compare the certificate with the name "localhost".
  const itsName = {
    checkServerIdentity: (name: string, found: PeerCertificate) =>
      checkServerIdentity(isIP(host ?? '') === 0 ? name : host!, found),
  }
  const options = (): Tls | undefined => {
    switch (mode) {
      case undefined:
        return rootFile === undefined && certificate === undefined ? undefined : itsName
      case 'disable':
        return false
      case 'no-verify':
      case 'allow':
      case 'prefer':
        return { rejectUnauthorized: false }
      case 'require':
        return root === undefined ? { rejectUnauthorized: false } : anyName
      case 'verify-ca':
        if (root === undefined) throw wrong('sslmode', mode, 'it requires sslrootcert')
        return anyName
      case 'verify-full':
        return itsName
      default:
        throw wrong(
          'sslmode',
          mode,
          'it is not one of disable, allow, prefer, require, verify-ca, verify-full, no-verify',
        )
    }
  }
  const fixed = options()
  if (typeof fixed !== 'object') return { mode, load: () => fixed }
  const readers = Object.entries(files).flatMap(([name, [option, file]]) =>
    file === undefined ? [] : [[name, readAgain(option, file)] as const],
  )
  return { mode, load: () => ({ ...Object.fromEntries(readers.map(([name, read]) => [name, read()])), ...fixed }) }
}

/** From the least safe one. `require` is safer than `no-verify`, because it verifies the server with `sslrootcert`. */
const byStrictness = ['allow', 'prefer', 'no-verify', 'require', 'verify-ca', 'verify-full']

/** `ssl` is what JDBC and `pg` call it: both verify the server. Of two modes, the stricter one applies. */
function joinModes(mode: string | undefined, ssl: string | undefined): string | undefined {
  if (ssl === undefined) return mode
  const same = { true: 'verify-full', 1: 'verify-full', false: 'disable', 0: 'disable', 'no-verify': 'no-verify' }[ssl]
  if (same === undefined) throw wrong('ssl', ssl, 'use sslmode')
  const isContradiction = mode !== undefined && (same === 'disable') !== (mode === 'disable')
  if (isContradiction) throw wrong('ssl', ssl, `sslmode is "${mode}"`)
  if (mode !== undefined && !byStrictness.includes(mode)) return mode
  return byStrictness.indexOf(same) > byStrictness.indexOf(mode ?? '') ? same : (mode ?? same)
}

/**
 * Reads a file at once, because a wrong path is an error at the start, and again for each connection. Then the last text
 * is used if it cannot be read, for example because it is being replaced.
 */
function readAgain(option: string, file: string): () => string {
  const read = () => readFileSync(file, 'utf8')
  let text: string
  try {
    text = read()
  } catch (cause) {
    throw wrong(option, file, messageOf(cause))
  }
  return () => {
    try {
      text = read()
    } catch {}
    return text
  }
}

export function wrong(name: string, value: string, reason: string): Error {
  return errors.WP_STORE_URL_OPTION({ name, value, reason })
}

/** Whether PostgreSQL has no TLS, or the handshake failed. */
export function isTlsFailure(error: unknown): boolean {
  const { message = '', code = '' } = error as { readonly message?: string; readonly code?: string }
  return message === noTls || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)
}

/** The message of pg. */
export const noTls = 'The server does not support SSL connections'
