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

/** The built pages. They have not been built if the maps are empty. */
export interface UiFiles {
  /** By name. */
  readonly assets: ReadonlyMap<string, UiFile>
  /** Functions that render the HTML of a page, by its file. */
  readonly pages: ReadonlyMap<string, (parts: PageParts) => string>
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

let loading: Promise<UiFiles> | undefined

/** Reads the built pages once, see bin/build/backend-ui.ts. */
export function loadFiles(): Promise<UiFiles> {
  loading ??= readFiles().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function readFiles(): Promise<UiFiles> {
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => name.endsWith('.html'))
  const pages = files.map(async (name) => [name, makePage(await readFile(path.join(folder, name), 'utf8'))] as const)
  const assets = files.length === 0 ? [] : await readAssets()
  return { assets: new Map(assets), pages: new Map(await Promise.all(pages)) }
}

async function readAssets(): Promise<readonly [string, UiFile][]> {
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
  return Promise.all(loaded)
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
