import type { LoadedTexts } from '../../../build/index.ts'
import {
  openEditing,
  type DifferenceCache,
  type Editing,
  type SourceCache,
  type Texts,
} from '../../../definition/index.ts'
import type { Artifact, BuiltRelease, Manifest } from '../../../release/index.ts'

/** What the tasks of a thread share: what is parsed and loaded is kept between them. */
export interface TaskContext {
  /** The folder of a project, whose files the texts replace; undefined if the texts are all files. */
  readonly root: string | undefined
  readonly edited: SourceCache
  readonly compared: DifferenceCache
  load(draft: CodedTexts): Promise<LoadedTexts>
  /** Makes the release of a definition without errors. */
  link(draft: CodedTexts): Promise<LinkedTexts>
}

/** The texts of a definition with the code of a release. */
export interface CodedTexts {
  readonly texts: Texts
  /** Undefined before the first deployment. */
  readonly release: string | undefined
}

export interface LinkedTexts extends BuiltRelease {
  /** The artifacts that the release with the code does not have. */
  readonly own: readonly Artifact[]
  /** The release with the code. */
  readonly base: Manifest | undefined
}

const rootFile = 'waypost.yml'

/** The empty definition has no files: it can still be edited and loaded. */
export function withRoot(texts: Texts, text: string): Texts {
  return texts.has(rootFile) ? texts : new Map([...texts, [rootFile, text]])
}

export function openTexts({ root, edited }: Pick<TaskContext, 'root' | 'edited'>, texts: Texts): Editing {
  return openEditing(root, { texts: root === undefined ? withRoot(texts, '') : texts, cache: edited })
}
