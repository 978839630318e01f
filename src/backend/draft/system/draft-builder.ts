import { openBaseBuilder, type BaseBuilder, type LoadedTexts } from '../../../build/index.ts'
import { makeSourceCache, type SourceCache, type Texts } from '../../../definition/index.ts'
import type { Host } from '../../../host/index.ts'
import { loadArtifacts, loadDraftRows, loadManifest, type BuiltRelease } from '../../../release/index.ts'
import type { DraftVersions } from './draft-versions.ts'
import { keepLast } from './keep-last.ts'

const keptLoads = 4
const rootFile = 'waypost.yml'

/** The empty definition has no files: it can still be edited and loaded. */
export function withRoot(texts: Texts, text: string): Texts {
  return texts.has(rootFile) ? texts : new Map([...texts, [rootFile, text]])
}

/** Loads definitions and makes releases of them, with the code of the active release. */
export class DraftBuilder {
  readonly #host: Host
  readonly #versions: DraftVersions
  readonly #sources: SourceCache
  readonly #loaded = new Map<string, Promise<LoadedTexts>>()
  #builder: { readonly release: string | undefined; readonly opened: BaseBuilder } | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(host: Host, versions: DraftVersions, sources: SourceCache) {
    this.#host = host
    this.#sources = sources
    this.#versions = versions
  }

  /** Loads a definition with the code of the active release. */
  async load(texts: Texts): Promise<LoadedTexts> {
    const release = (await loadDraftRows(this.#host.system.db)).active?.release
    return keepLast(this.#loaded, `${release} ${this.#versions.listOf(texts)}`, {
      count: keptLoads,
      make: () => this.#build(release, (builder) => builder.load(withRoot(texts, 'routes: {}\n'))),
    })
  }

  /** Makes the release of a loaded definition without errors. */
  async link(loaded: LoadedTexts): Promise<BuiltRelease> {
    const release = (await loadDraftRows(this.#host.system.db)).active?.release
    return this.#build(release, (builder) => builder.link(loaded))
  }

  /** Runs one work after the other with the builder for the code of a release. */
  #build<Result>(release: string | undefined, work: (builder: BaseBuilder) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(async () => {
      if (this.#builder === undefined || this.#builder.release !== release) {
        this.close()
        this.#builder = { release, opened: await this.#openBuilder(release) }
      }
      return work(this.#builder.opened)
    })
    this.#last = result.catch(() => undefined)
    return result
  }

  async #openBuilder(release: string | undefined): Promise<BaseBuilder> {
    const { system, folder } = this.#host
    const { sources, edited } = this.#sources
    const cache = { ...makeSourceCache(), sources, edited }
    if (release === undefined) return openBaseBuilder({ base: undefined, folder, cache })
    const manifest = await loadManifest(system, release)
    const base = { manifest, loadArtifacts: () => loadArtifacts(system, { id: release }, manifest.artifacts) }
    return openBaseBuilder({ base, folder, cache })
  }

  close(): void {
    this.#loaded.clear()
    this.#builder?.opened.close()
    this.#builder = undefined
  }
}
