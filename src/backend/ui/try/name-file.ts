type Headers = readonly (readonly [name: string, value: string])[]

/** Returns the name of a file with a response: that of its headers, or the end of the path with an extension by its type. */
export function nameFile(path: string, headers: Headers): string {
  const of = (name: string) => headers.find(([one]) => one === name)?.[1] ?? ''
  const given = nameOfDisposition(of('content-disposition'))
  if (given !== undefined) return given
  const type = of('content-type')
  const name =
    path
      .split('?', 1)[0]!
      .split('/')
      .at(-1)!
      .replaceAll(/[^\w.-]+/g, '-') || 'response'
  const [, known = 'bin'] = /^\w+\/(?:[\w.-]+\+)?(json|csv|xml|png|jpeg|gif|webp|pdf|zip)\b/i.exec(type) ?? []
  return /\.\w+$/.test(name) ? name : `${name}.${/^text\/(?!csv|xml)/i.test(type) ? 'txt' : known}`
}

/** Reads the name in `Content-Disposition` (RFC 6266). */
function nameOfDisposition(value: string): string | undefined {
  const [, encoded] = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(value) ?? []
  const [, plain] = /;\s*filename="([^"]*)"/i.exec(value) ?? []
  try {
    const name = encoded === undefined ? plain : decodeURIComponent(encoded)
    return name?.split(/[\\/]/).at(-1) || undefined
  } catch {
    return undefined
  }
}
