import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findWrongUse, loadCommands } from '../../support/command-lines.ts'

/** What `init --with` copies. Docker, Kubernetes and the pipelines run nowhere in these tests. */
export const parts = path.join(import.meta.dirname, '../../../templates/with')

export function readPart(file: string): string {
  return readFileSync(path.join(parts, file), 'utf8')
}

const commands = loadCommands()

/** That the built command line takes these words as they stand. */
export function assertCommand(words: readonly string[] | undefined): void {
  assert.equal(findWrongUse(commands, words ?? [], 'whole'), undefined)
}

/** That an image is named with a tag that says a version, or a digest. */
export function assertPinned(image: string): void {
  assert.match(image, /:\d+[.\w-]*$|@sha256:/, image)
}
