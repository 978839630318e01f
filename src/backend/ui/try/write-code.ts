// Writes requests as code that people copy.

export interface SentRequest {
  readonly method: string
  readonly url: string
  /** Besides those of the token and of the body. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** JSON. */
  readonly body: string | undefined
  /** A body of another type. */
  readonly code?: CodePart
  readonly hasToken: boolean
}

/** A body that is not JSON. The code names its files, which must exist where it runs. */
export type CodePart =
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  | { readonly kind: 'bytes'; readonly type: string; readonly file: string }
  | { readonly kind: 'parts'; readonly isForm: boolean; readonly fields: readonly CodeField[] }

export type CodeField =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly file: string; readonly type: string }

export type Language = 'curl' | 'javascript' | 'python'
export const languages: readonly Language[] = ['curl', 'javascript', 'python']

/** Writes a request in a language. The token is read from a variable, so that code can be shared. */
export function writeCode(language: Language, request: SentRequest): string {
  if (language === 'curl') return writeCurl(request)
  return language === 'python' ? writePython(request) : writeJavaScript(request)
}

function writeCurl({ method, url, headers = [], body, code, hasToken }: SentRequest): string {
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoteForShell(url)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...headers.map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoteForShell(body)}`]),
    ...(code === undefined ? [] : bodyForCurl(code)),
  ].join(' \\\n  ')
}

function writeJavaScript({ method, url, headers: own = [], body, code, hasToken }: SentRequest): string {
  const other = code === undefined ? undefined : bodyForJavaScript(code)
  const headers = [
    ...(hasToken ? ['    Authorization: `Bearer ${process.env.TOKEN}`,'] : []),
    ...own.map(([name, value]) => `    ${quote(name)}: ${quote(value)},`),
    ...(body === undefined ? [] : [`    'Content-Type': 'application/json',`]),
    ...(other?.type === undefined ? [] : [`    'Content-Type': ${quote(other.type)},`]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(body === undefined ? [] : [`  body: ${isJson(body) ? `JSON.stringify(${indent(body, 2)})` : quote(body)},`]),
    ...(other === undefined ? [] : [`  body: ${other.body},`]),
  ]
  return [
    ...(other?.before ?? []),
    `const response = await fetch(${quote(url)}${options.length === 0 ? ')' : ', {'}`,
    ...options,
    ...(options.length === 0 ? [] : ['})']),
    'if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)',
    'console.log(response.status, await response.text())',
  ].join('\n')
}

function writePython({ method, url, headers: own = [], body, code, hasToken }: SentRequest): string {
  const other = code === undefined ? undefined : bodyForPython(code)
  const isJsonBody = body !== undefined && isJson(body)
  const headers = [
    ...(hasToken ? [`"Authorization": f"Bearer {os.environ['TOKEN']}"`] : []),
    ...own.map(([name, value]) => `${quote(name)}: ${quote(value)}`),
    ...(body === undefined || isJsonBody ? [] : ['"Content-Type": "application/json"']),
    ...(other?.type === undefined ? [] : [`"Content-Type": ${quote(other.type)}`]),
  ]
  return [
    ...(hasToken ? ['import os'] : []),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    ${quote(url)},`,
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},`]),
    ...(body === undefined
      ? []
      : [isJsonBody ? `    json=${indent(toPython(body), 4)},` : `    data=${quote(body)}.encode(),`]),
    ...(other?.lines ?? []),
    '    timeout=30,',
    ')',
    'response.raise_for_status()',
    'print(response.status_code, response.text)',
  ].join('\n')
}

function bodyForCurl(code: CodePart): readonly string[] {
  if (code.kind === 'text')
    return [`-H ${quoteForShell(`Content-Type: ${code.type}`)}`, `--data-raw ${quoteForShell(code.text)}`]
  if (code.kind === 'bytes')
    return [`-H ${quoteForShell(`Content-Type: ${code.type}`)}`, `--data-binary ${quoteForShell(`@${code.file}`)}`]
  return code.fields.map((field) => {
    if ('file' in field)
      return `-F ${quoteForShell(`${field.name}=@${field.file}${field.type && `;type=${field.type}`}`)}`
    const pair = quoteForShell(`${field.name}=${field.text}`)
    return code.isForm ? `--data-urlencode ${pair}` : `--form-string ${pair}`
  })
}

function bodyForJavaScript(code: CodePart): { before?: readonly string[]; body: string; type?: string } {
  if (code.kind === 'text') return { body: quote(code.text), type: code.type }
  const open = "import { openAsBlob } from 'node:fs'"
  if (code.kind === 'bytes')
    return { before: [open, ''], body: `await openAsBlob(${quote(code.file)})`, type: code.type }
  const hasFile = code.fields.some((field) => 'file' in field)
  const lines = code.fields.map((field) => {
    const name = quote(field.name)
    if (!('file' in field)) return `form.append(${name}, ${quote(field.text)})`
    const options = field.type === '' ? '' : `, { type: ${quote(field.type)} }`
    return `form.append(${name}, await openAsBlob(${quote(field.file)}${options}), ${quote(field.file)})`
  })
  const made = `const form = new ${code.isForm ? 'URLSearchParams' : 'FormData'}()`
  return { before: [...(hasFile ? [open, ''] : []), made, ...lines], body: 'form' }
}

function bodyForPython(code: CodePart): { lines: readonly string[]; type?: string } {
  if (code.kind === 'text') return { lines: [`    data=${quote(code.text)}.encode(),`], type: code.type }
  if (code.kind === 'bytes') return { lines: [`    data=open(${quote(code.file)}, "rb"),`], type: code.type }
  const pairs = code.fields.map((field) => {
    if (!('file' in field))
      return `(${quote(field.name)}, ${code.isForm ? quote(field.text) : `(None, ${quote(field.text)})`})`
    const type = field.type === '' ? '' : `, ${quote(field.type)}`
    return `(${quote(field.name)}, (${quote(field.file)}, open(${quote(field.file)}, "rb")${type}))`
  })
  return { lines: [`    ${code.isForm ? 'data' : 'files'}=[${pairs.join(', ')}],`] }
}

/** Writes the request that exchanges the credentials of a client for a token. */
export function writeTokenCode(
  language: Language,
  { url, scope }: { readonly url: string; readonly scope: string },
): string {
  if (language === 'curl')
    return [
      `curl ${quoteForShell(url)}`,
      '-u "$CLIENT_ID:$CLIENT_SECRET"',
      '-d grant_type=client_credentials',
      `--data-urlencode ${quoteForShell(`scope=${scope}`)}`,
    ].join(' \\\n  ')
  if (language === 'python')
    return [
      'import os',
      'import requests',
      '',
      'response = requests.post(',
      `    ${quote(url)},`,
      '    auth=(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]),',
      `    data={"grant_type": "client_credentials", "scope": ${quote(scope)}},`,
      '    timeout=30,',
      ')',
      'response.raise_for_status()',
      'token = response.json()["access_token"]',
    ].join('\n')
  return [
    'const { CLIENT_ID, CLIENT_SECRET } = process.env',
    `const response = await fetch(${quote(url)}, {`,
    "  method: 'POST',",
    '  headers: { Authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },',
    `  body: new URLSearchParams({ grant_type: 'client_credentials', scope: ${quote(scope)} }),`,
    '})',
    'if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)',
    'const { access_token: token } = await response.json()',
  ].join('\n')
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A string of JSON is also one of JavaScript and of Python. */
function quote(text: string): string {
  return JSON.stringify(text)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function indent(text: string, spaces: number): string {
  return text.trim().replaceAll(/\r?\n/g, `\n${' '.repeat(spaces)}`)
}

const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** Converts JSON to a literal of Python. Numbers stay as they are, because large ones would lose digits. */
function toPython(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (part) =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : words[part]!,
  )
}
