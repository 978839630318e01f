import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { installation } from '../../kit/index.ts'

/** A file with a hash in its name. */
export interface UiFile {
  readonly type: string
  readonly brotli: Buffer
  readonly gzip: Buffer
  plain(): Buffer
}

/** The built pages. */
export interface UiFiles {
  /** By name. */
  readonly assets: ReadonlyMap<string, UiFile>
  /** Renders the HTML of a page; undefined if the pages have not been built. */
  readonly page: ((parts: PageParts) => string) | undefined
}

export interface PageParts {
  /** The path below which the assets are, with a slash at its end. */
  readonly base: string
  /** The nonce of scripts and styles. */
  readonly nonce: string
  /** JSON that is safe in HTML. */
  readonly config: string
}

const folder = path.join(installation, 'dist/ui')
const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads the built pages, see bin/build/backend-ui.ts. */
export async function loadFiles(): Promise<UiFiles> {
  const html = await readFile(path.join(folder, 'index.html'), 'utf8').catch(() => undefined)
  if (html === undefined) return { assets: new Map(), page: undefined }
  const names = await readdir(path.join(folder, 'assets'))
  const loaded = names
    .filter((name) => name.endsWith('.br'))
    .map(async (name): Promise<[string, UiFile]> => {
      const plainName = name.slice(0, -'.br'.length)
      const [brotli, gzip] = await Promise.all(
        ['br', 'gz'].map((kind) => readFile(path.join(folder, 'assets', `${plainName}.${kind}`))),
      )
      const type = types[path.extname(plainName)] ?? 'application/octet-stream'
      return [plainName, { type, brotli: brotli!, gzip: gzip!, plain: () => brotliDecompressSync(brotli!) }]
    })
  return { assets: new Map(await Promise.all(loaded)), page: makePage(html) }
}

function makePage(html: string): (parts: PageParts) => string {
  return ({ base, nonce, config }) =>
    html
      .replaceAll('"./assets/', () => `"${base}assets/`)
      .replaceAll(/<(script|link)(?= )/g, (_tag, name: string) => `<${name} nonce="${nonce}"`)
      .replace('</head>', () => {
        return `<script type="application/json" id="config" data-nonce="${nonce}">${config}</script></head>`
      })
}
