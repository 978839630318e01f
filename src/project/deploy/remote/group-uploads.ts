import type { Artifact } from '../../../release/index.ts'

/** Below what proxies take of one body by default, 1 MB, also where nothing can be compressed. */
const mostBytes = 700 * 1024
const mostArtifacts = 500

/** Artifacts in groups that fit into one request each; a large one is alone. */
export function groupUploads(artifacts: readonly Artifact[]): readonly (readonly Artifact[])[] {
  const groups: Artifact[][] = []
  let left = 0
  for (const artifact of artifacts) {
    const bytes = Buffer.byteLength(artifact.content)
    const last = groups.at(-1)
    if (last === undefined || bytes > left || last.length >= mostArtifacts) {
      groups.push([artifact])
      left = mostBytes - bytes
    } else {
      last.push(artifact)
      left -= bytes
    }
  }
  return groups
}
