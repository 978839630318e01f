import type { Texts } from '../../../definition/index.ts'
import { warnOfSharedOrigin, type Host } from '../../../host/index.ts'
import { loadArtifacts, loadDraftRows, parseInTurn, type BuiltRelease } from '../../../release/index.ts'
import type { LinkedRelease, TaskOutput } from '../thread/draft-tasks.ts'
import type { DraftThread } from '../thread/draft-thread.ts'
import type { CodedTexts } from '../thread/task-context.ts'
import type { DraftVersions } from './draft-versions.ts'
import { keepLast } from './keep-last.ts'

const keptLoads = 4

/** A definition that was loaded with the code of the active release. */
export interface LoadedDraft extends CodedTexts, TaskOutput<'check'> {}

/** The release of a draft. */
export interface LinkedDraft extends BuiltRelease, Pick<LinkedRelease, 'id' | 'compared'> {
  /** The text of the manifest. */
  readonly text: string
}

/** Loads definitions and makes releases of them, with the code of the active release. */
export class DraftBuilder {
  readonly #host: Host
  readonly #versions: DraftVersions
  readonly #thread: DraftThread
  readonly #loaded = new Map<string, Promise<LoadedDraft>>()

  constructor(host: Host, versions: DraftVersions, thread: DraftThread) {
    this.#host = host
    this.#versions = versions
    this.#thread = thread
  }

  /** Loads a definition with the code of the active release. */
  async load(texts: Texts): Promise<LoadedDraft> {
    const release = (await loadDraftRows(this.#host.system.db)).active?.release
    return keepLast(this.#loaded, `${release} ${this.#versions.listOf(texts)}`, {
      count: keptLoads,
      make: async () => {
        const { diagnostics, ...checked } = await this.#thread.ask('check', { texts, release })
        const shared = warnOfSharedOrigin(checked.html, this.#host.variables)
        return { texts, release, ...checked, diagnostics: [...diagnostics, ...shared] }
      },
    })
  }

  /** Makes the release of a loaded definition without errors. */
  async link({ texts, release }: CodedTexts): Promise<LinkedDraft> {
    const { id, manifest: text, own, hashes, compared } = await this.#thread.ask('link', { texts, release })
    const known = new Map(own.map((one) => [one.hash, one]))
    const manifest = await parseInTurn(text)
    const kept = Object.entries(manifest.artifacts).filter(([hash]) => !known.has(hash))
    if (release !== undefined && kept.length > 0) {
      const wanted = Object.fromEntries(kept)
      for (const one of await loadArtifacts(this.#host.system, { id: release }, wanted)) known.set(one.hash, one)
    }
    return { id, text, compared, manifest, artifacts: hashes.map((hash) => known.get(hash)!) }
  }
}
