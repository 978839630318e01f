/** An address as it may be shown: without its password. */
export function redactUrl(url: string): string {
  if (URL.canParse(url)) {
    const parsed = new URL(url)
    if (!`${parsed.pathname}${parsed.search}${parsed.hash}`.includes('@')) return withoutPassword(parsed)
  }
  return url.replace(/(:\/\/[^:/?#@]*):.*@/s, '$1@') // the password may hold what should have been written as %2F or %23
}

function withoutPassword(url: URL): string {
  url.password = ''
  for (const name of ['password', 'sslpassword']) url.searchParams.delete(name)
  return url.href
}

/** Host and database of an address, for messages; undefined if it is none. */
export function parsePostgresUrl(url: string): { readonly host: string; readonly database: string } | undefined {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const host = parsed.host || parsed.searchParams.get('host') || 'localhost'
  const database = decode(parsed.pathname.slice(1))
  return database === undefined ? undefined : { host, database: database || parsed.username }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined // a percent sign that begins no escape
  }
}
