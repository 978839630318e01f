import { sha256 } from '../kit/index.ts'
import type { Manifest } from './manifest.ts'

/** The text of a manifest that is stored and hashed; keys stay in their author's order, which `build` makes the same everywhere. */
export function writeManifest(manifest: Manifest): string {
  return JSON.stringify(manifest)
}

export function hashPart(text: string): string {
  return sha256(text)
}

/** A release's id: the hash of both its parts. */
export function releaseId(projectHash: string, backendHash: string): string {
  return sha256(`${projectHash} ${backendHash}`)
}

/** The first characters of an id or hash, for people. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}

/** The backend part of a System in which nobody built anything in the browser. */
export const emptyBackend = '{}'
