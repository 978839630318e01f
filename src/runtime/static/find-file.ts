import { findReservedPath } from '../../kit/index.ts'
import type { Manifest, ManifestStatic } from '../../release/index.ts'

/** What a path leads to in the static folders of a release. */
export type FoundFile =
  | {
      readonly folder: ManifestStatic
      /** Its path in the folder. */
      readonly name: string
      readonly hash: string
      /** Whether it is sent for a path that does not exist. */
      readonly isFallback?: true
    }
  /** A folder with an index file, without the slash at its end. */
  | { readonly redirect: string }

const index = 'index.html'

interface Folder {
  /** Empty for `/`. */
  readonly prefix: string
  readonly folder: ManifestStatic
}

/** Finds the files of static folders. Paths are only compared with those of the release. */
export class StaticFolders {
  readonly #folders: readonly Folder[]

  constructor({ static: folders = {} }: Pick<Manifest, 'static'>) {
    this.#folders = Object.entries(folders)
      .map(([path, folder]) => ({ prefix: path === '/' ? '' : path, folder }))
      .toSorted((a, b) => b.prefix.length - a.prefix.length)
  }

  get isEmpty(): boolean {
    return this.#folders.length === 0
  }

  /**
   * @param path as it was sent, without its query
   * @param isPage whether the caller asks for a page to show
   */
  find(path: string, isPage: boolean): FoundFile | undefined {
    const decoded = decodePath(path)
    if (decoded === undefined || findReservedPath(decoded) !== undefined) return undefined
    const within = this.#folders.flatMap(({ prefix, folder }) => {
      const isWithin = decoded === prefix || decoded.startsWith(`${prefix}/`)
      return isWithin ? [{ folder, rest: decoded.slice(prefix.length) }] : []
    })
    for (const { folder, rest } of within) {
      const found = findIn(folder, rest)
      if (found !== undefined) return found
    }
    for (const { folder } of within) {
      const { fallback } = folder
      if (isPage && fallback !== undefined && Object.hasOwn(folder.files, fallback))
        return { folder, name: fallback, hash: folder.files[fallback]!, isFallback: true }
    }
    return undefined
  }
}

/** @param rest empty, or with a slash at its beginning */
function findIn(folder: ManifestStatic, rest: string): FoundFile | undefined {
  const { files } = folder
  const name = rest.endsWith('/') ? `${rest.slice(1)}${index}` : rest.slice(1)
  if (Object.hasOwn(files, name)) return { folder, name, hash: files[name]! }
  const page = rest === '' ? index : `${name}/${index}`
  const last = rest === '' ? undefined : rest.split('/').at(-1)
  if (rest.endsWith('/') || !Object.hasOwn(files, page)) return undefined
  return { redirect: last === undefined ? '' : last }
}

/** Returns a path whose segments are decoded; undefined if it cannot name a file. */
function decodePath(path: string): string | undefined {
  try {
    const segments = path.split('/').map((one) => (one.includes('%') ? decodeURIComponent(one) : one))
    return segments.some((one) => /[/\\\0]/.test(one)) ? undefined : segments.join('/')
  } catch {
    return undefined
  }
}
