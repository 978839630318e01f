/** Removes the password from a URL. */
export function redactUrl(url: string): string {
  if (url.startsWith('sqlite:')) return url
  if (URL.canParse(url)) {
    const parsed = new URL(url)
    if (!`${parsed.pathname}${parsed.search}${parsed.hash}`.includes('@')) return withoutPassword(parsed)
  }
  // An invalid password may contain characters that should be written as %2F or %23, and the scheme may be misspelled.
  return url.replace(/^([\w+.-]*:?\/*[^:/?#@]*):.*@/s, '$1@')
}

function withoutPassword(url: URL): string {
  url.password = ''
  for (const name of ['password', 'sslpassword']) url.searchParams.delete(name)
  return url.href
}

/** Returns host and database of a URL for messages, or undefined if it is invalid. */
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
    return undefined // an invalid percent escape
  }
}
