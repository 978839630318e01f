import { sha256 } from '../kit/index.ts'
import type { Manifest } from './manifest.ts'

/** Returns the text of a manifest that is stored and hashed; keys keep their author's order, which `build` makes the same everywhere. */
export function writeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest)
}

/** Returns the id of a release: the SHA-256 of its manifest's text. */
export function releaseId(manifest: Manifest): string {
  return sha256(writeManifest(manifest))
}
