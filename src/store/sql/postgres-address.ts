import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { messageOf } from '../../kit/index.ts'
import type { ClientConfig } from 'pg'
import { errors } from './errors.ts'

/** How to connect to an address, with the options of libpq that `pg` ignores or understands in another way. */
export interface PostgresAddress {
  /** The address without these options. */
  readonly connectionString: string
  /** Whether and how the next attempt uses TLS. Undefined leaves it to `pg`, which uses none by default. */
  ssl(): ClientConfig['ssl']
  /** Whether to try again at once with TLS, or without: for `sslmode=prefer` and `allow`. */
  isWorthRetry(error: unknown): boolean
}

const tlsOptions = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'] as const
/** The names that libpq, JDBC and Prisma use. */
const schemaOptions = ['search_path', 'currentSchema', 'schema'] as const

/**
 * Reads an address as libpq does (https://www.postgresql.org/docs/current/libpq-ssl.html), where `pg` differs.
 * @throws WP_STORE_URL_OPTION
 */
export function parsePostgresAddress(url: string): PostgresAddress {
  const start = url.indexOf('?')
  if (start === -1) return { connectionString: url, ssl: () => undefined, isWorthRetry: () => false }
  const query = new URLSearchParams(url.slice(start + 1))
  const mode = query.get('sslmode') ?? undefined
  const ssl = makeTls(query, { mode, host: query.get('host') ?? hostOf(url) })
  for (const name of tlsOptions) query.delete(name)
  moveSchema(query)
  const connectionString = `${url.slice(0, start)}?${query.toString()}`
  if (mode !== 'prefer' && mode !== 'allow') return { connectionString, ssl: () => ssl, isWorthRetry: () => false }
  let isEncrypted = mode === 'prefer'
  return {
    connectionString,
    ssl: () => (isEncrypted ? ssl : false),
    isWorthRetry(error) {
      if (isTlsFailure(error)) isEncrypted = false
      else if (isEncryptionDemanded(error)) isEncrypted = true
      else return false
      return true
    },
  }
}

/** A setting that `pg` has no option for is sent as libpq's `options`. */
function moveSchema(query: URLSearchParams): void {
  const given = schemaOptions.filter((name) => query.has(name))
  const [name, other] = given
  if (name === undefined) return
  const value = query.get(name)!
  if (other !== undefined) throw wrong(other, query.get(other)!, `"${name}" sets the same`)
  query.delete(name)
  const written = `-csearch_path=${value.replaceAll(/[\\\s]/g, String.raw`\$&`)}`
  query.set('options', [query.get('options'), written].filter(Boolean).join(' '))
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '') : ''
}

interface TlsPeer {
  readonly mode: string | undefined
  readonly host: string
}

function makeTls(query: URLSearchParams, { mode, host }: TlsPeer): ClientConfig['ssl'] {
  const file = (name: (typeof tlsOptions)[number]) => query.get(name) ?? undefined
  const rootFile = file('sslrootcert')
  const isSystem = rootFile === 'system' // the certificates that Node trusts
  const root = isSystem ? undefined : rootFile
  if (isSystem && mode !== undefined && mode !== 'verify-full')
    throw wrong('sslmode', mode, 'sslrootcert=system requires verify-full')
  const files = readLate({
    ca: ['sslrootcert', root],
    cert: ['sslcert', file('sslcert')],
    key: ['sslkey', file('sslkey')],
  })
  const anyName = { checkServerIdentity: () => undefined }
  // For an IP address, `pg` would compare the certificate with the name "localhost".
  const itsName = {
    checkServerIdentity: (name: string, certificate: PeerCertificate) =>
      checkServerIdentity(isIP(host) === 0 ? name : host, certificate),
  }
  switch (mode) {
    case undefined:
      return rootFile === undefined && file('sslcert') === undefined ? undefined : merge(files, itsName)
    case 'disable':
      return false
    case 'no-verify':
    case 'allow':
    case 'prefer':
      return merge(files, { rejectUnauthorized: false })
    case 'require':
      return merge(files, root === undefined ? { rejectUnauthorized: false } : anyName)
    case 'verify-ca':
      if (root === undefined) throw wrong('sslmode', mode, 'it requires sslrootcert')
      return merge(files, anyName)
    case 'verify-full':
      return merge(files, itsName)
    default:
      throw wrong(
        'sslmode',
        mode,
        'it is not one of disable, allow, prefer, require, verify-ca, verify-full, no-verify',
      )
  }
}

/** Adds options without reading those that are read late. */
function merge(files: object, options: object): object {
  return Object.defineProperties(files, Object.getOwnPropertyDescriptors(options))
}

/** Returns options whose files are read for each connection, because certificates are renewed. */
function readLate(files: Readonly<Record<string, readonly [option: string, file: string | undefined]>>): object {
  const options = {}
  for (const [name, [option, file]] of Object.entries(files)) {
    if (file === undefined) continue
    readText(option, file) // a wrong path is an error at the start
    Object.defineProperty(options, name, { get: () => readText(option, file), enumerable: true, configurable: true })
  }
  return options
}

function readText(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw wrong(option, file, messageOf(cause))
  }
}

function wrong(name: string, value: string, reason: string): Error {
  return errors.WP_STORE_URL_OPTION({ name, value, reason })
}

/** Whether PostgreSQL has no TLS, or the handshake failed. */
function isTlsFailure(error: unknown): boolean {
  const { message = '', code = '' } = error as { readonly message?: string; readonly code?: string }
  return message === noTls || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)
}

/** The message of pg. */
export const noTls = 'The server does not support SSL connections'

/** Whether `pg_hba.conf` may reject the connection only because it is not encrypted. */
function isEncryptionDemanded(error: unknown): boolean {
  return (error as { readonly code?: string }).code === '28000'
}
