// Reads the body of a response as text, if it is text, and as a file.

export interface ReadBody {
  /** The beginning; empty if the body is not text. */
  readonly text: string
  /** The size that was read. */
  readonly bytes: number
  /** Whether `text` is not all of it. */
  readonly isCut: boolean
  readonly isBinary: boolean
  /** `limit`: it was too large to read all of it. `broken`: it ended too early. */
  readonly state: 'open' | 'complete' | 'limit' | 'stopped' | 'broken'
  /** The whole body, of one that is binary or cut. */
  readonly file?: Blob
}

const maxText = 256 * 1024
const maxBytes = 64 * 1024 * 1024

/** Types that are never text, even if their bytes could be. SVG is text, which is never rendered. */
const binary = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:octet-stream|pdf|zip|gzip)\b)/i

/**
 * Reads a body. What arrives is reported at most once per frame, because a stream may have many small parts.
 * @param report called while the body arrives, first when it has begun
 */
export async function readBody(response: Response, report: (body: ReadBody) => void): Promise<ReadBody> {
  const type = response.headers.get('content-type') ?? ''
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const decoder = makeDecoder(type)
  let isBinary = binary.test(type)
  let text = ''
  let bytes = 0
  const decode = (part?: Uint8Array) => {
    if (isBinary) return
    try {
      text += part === undefined ? decoder.decode() : decoder.decode(part, { stream: true })
      isBinary = text.includes('\0')
    } catch {
      isBinary = true
    }
    if (isBinary) text = ''
  }
  const describe = (state: ReadBody['state']): ReadBody => {
    const isCut = !isBinary && bytes > maxText
    const hasFile = state !== 'open' && bytes > 0 && (isBinary || isCut)
    return { text, bytes, isCut, isBinary, state, ...(hasFile ? { file: new Blob(chunks) } : {}) }
  }
  let isReading = true
  let isReporting = false
  const progress = () => {
    if (isReporting) return
    isReporting = true
    requestAnimationFrame(() => {
      isReporting = false
      if (isReading) report(describe('open'))
    })
  }
  const reader = response.body?.getReader()
  try {
    progress()
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      const room = maxText - bytes
      bytes += value.length
      chunks.push(value)
      if (room > 0) decode(value.subarray(0, room))
      progress()
      if (bytes < maxBytes) continue
      await reader?.cancel()
      return describe('limit')
    }
    if (bytes <= maxText) decode() // a character may be incomplete
    return describe('complete')
  } catch {
    return describe('broken')
  } finally {
    isReading = false
  }
}

function makeDecoder(type: string): TextDecoder {
  const [, charset = 'utf-8'] = /;\s*charset="?([\w.:-]+)/i.exec(type) ?? []
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    return new TextDecoder('utf-8', { fatal: true }) // an unknown charset
  }
}
