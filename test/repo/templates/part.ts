import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findWrongUse, loadCommands } from '../../support/command-lines.ts'

/** The files that `init --with` copies. These tests do not run Docker, Kubernetes or pipelines. */
export const parts = path.join(import.meta.dirname, '../../../templates/with')

export function readPart(file: string): string {
  return readFileSync(path.join(parts, file), 'utf8')
}

const commands = loadCommands()

/** Asserts that the built command line accepts these words. */
export function assertCommand(words: readonly string[] | undefined): void {
  assert.equal(findWrongUse(commands, words ?? [], 'whole'), undefined)
}

/** Asserts that an image has a version, and a digest unless it is one that the project builds. */
export function assertPinned(image: string): void {
  assert.match(image, /^(?:registry\.example\.com\/)?my-api-|@sha256:[0-9a-f]{64}$/, image)
  assert.match(image, /^my-api-[a-z]+$|:\d+\.\d+[.\w-]*(?:@|$)/, image)
}
