import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { actionFile } from '../support/project-server.ts'

/** Routes that return what they got. */
export const bodyFiles = {
  'waypost.yml': `config: { upload_space: 4mb }
routes:
  /book:
    methods:
      POST:
        public: true
        operationId: createBook
        body_limit: 6mb
        request:
          content:
            multipart/form-data:
              type: object
              additionalProperties: false
              required: [title, cover]
              properties:
                title: { type: string, maxLength: 80 }
                year: { type: integer }
                tags: { type: array, maxItems: 3, items: { type: string } }
                meta: { type: object, required: [n], properties: { n: { type: integer } } }
                notes: { type: array, maxItems: 3, items: { type: object } }
                cover: { type: file, types: [image/png, image/jpeg], maxSize: 3mb }
                pages: { type: array, maxItems: 4, items: { type: file, maxSize: 300kb } }
        action: src/book.ts
  /form:
    methods:
      POST:
        public: true
        request:
          content:
            application/x-www-form-urlencoded:
              type: object
              required: [a]
              properties: { a: { type: integer }, b: { type: array, items: { type: string } }, c: { type: string, default: x } }
            application/json: { type: object, required: [a], properties: { a: { type: integer } } }
        action: src/echo.ts
  /text:
    methods:
      POST: { operationId: createText, public: true, request: { content: { text/plain: { type: string, maxLength: 10 } } }, action: src/echo.ts }
  /bytes:
    methods:
      PUT: { operationId: replaceBytes, public: true, body_limit: 2mb, request: { content: [application/octet-stream, image/png] }, action: src/bytes.ts }
      POST: { public: true, request: { content: [application/octet-stream] }, action: src/unread.ts }
  /late:
    methods:
      POST: { public: true, timeout: 50ms, body_limit: 2mb, request: { content: [application/octet-stream] }, action: src/late.ts }
  /hook:
    methods:
      POST: { public: true, raw: true, request: { type: object }, action: src/hook.ts }
      PUT: { public: true, raw: true, action: src/hook.ts }
  /json:
    methods:
      POST: { public: true, body_limit: 100b, request: { type: object }, action: src/echo.ts }
`,
  'src/book.ts': actionFile(
    `globalThis.bookCalls = (globalThis.bookCalls ?? 0) + 1
    const show = async (file) => file && { name: file.name, type: file.type, size: file.size, hash: createHash('sha256').update(await file.bytes()).digest('hex'), isFile: file instanceof File }
    const { cover, pages, ...rest } = request.body
    return { ...rest, type: request.contentType, cover: await show(cover), ...(pages && { pages: await Promise.all(pages.map(show)) }) }`,
    "import { createHash } from 'node:crypto'",
  ),
  'src/echo.ts': actionFile('return { body: request.body, type: request.contentType }'),
  'src/bytes.ts': actionFile(
    `let size = 0
    for await (const chunk of request.body) size += chunk.length
    return { size, type: request.contentType }`,
  ),
  'src/late.ts': actionFile(
    `const late = globalThis[Symbol.for('waypost.test.late')]
    await late.released
    try {
      for await (const chunk of request.body) late.size += chunk.length
      late.outcome = 'complete'
    } catch (error) {
      late.outcome = error.message
    }
    return {}`,
  ),
  'src/unread.ts': actionFile('return { unread: request.body instanceof ReadableStream }'),
  'src/hook.ts': actionFile("return { raw: Buffer.from(request.raw).toString('latin1'), body: request.body }"),
}

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'), Buffer.alloc(100, 7)])

/** Returns how often the action of books was called in this process. */
export function countBookCalls(): number {
  return (globalThis as { bookCalls?: number }).bookCalls ?? 0
}

/** A picture of so many bytes. */
export function makePng(bytes = png.length): Buffer {
  return Buffer.concat([png.subarray(0, 8), randomBytes(bytes - 8)])
}

/** The folders of temporary files of this process that exist at the moment, with the files in them. */
export function listUploads(): readonly string[] {
  const parent = path.join(tmpdir(), `waypost-uploads-${process.getuid?.() ?? 'user'}`)
  if (!existsSync(parent)) return []
  const own = readdirSync(parent).filter((name) => name.split('-')[1] === String(process.pid))
  return own.flatMap((name) => [name, ...readdirSync(path.join(parent, name))])
}

export interface RawPart {
  readonly headers: readonly string[]
  readonly body: string | Buffer
}

export const boundary = 'XyZ'

export function writeParts(parts: readonly RawPart[], end = `--${boundary}--\r\n`): Buffer {
  const written = parts.flatMap(({ headers, body }) => [
    Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...written, Buffer.from(end)])
}

export const textPart = (name: string, body: string | Buffer): RawPart => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  body,
})
export const filePart = (
  name: string,
  body: string | Buffer,
  { filename = 'a.png', type = 'image/png' }: { readonly filename?: string; readonly type?: string } = {},
): RawPart => ({
  headers: [`Content-Disposition: form-data; name="${name}"; filename="${filename}"`, `Content-Type: ${type}`],
  body,
})

/** Sends bytes and returns the beginning of the response; `end` closes the connection after them. */
export function sendRaw(url: string, chunks: readonly (string | Buffer)[], end = false): Promise<string> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, async () => {
      for (const chunk of chunks) if (!socket.destroyed) socket.write(chunk)
      if (end) socket.end()
    })
    socket.on('data', (chunk) => (received += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received))
    socket.setTimeout(20_000, () => reject(new Error(`no end: ${received}`)))
  })
}
