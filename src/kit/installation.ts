import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The folder of this installation of Waypost: where its `package.json` stands. */
export const installation: string = findInstallation()

/** Waypost's own version, for example `1.0.0`. */
export const version: string = readJson('package.json')['version'] ?? '0.0.0'

/** `waypost/<version>@<build_hash>`: the hash is the commit that was built, `source` where nothing was built. */
export const userAgent = `waypost/${version}@${readJson('dist/build.json')['commit'] ?? 'source'}`

/** What commands call themselves when they ask a `dev` for something: who works on it did not send that. */
export const probeAgent = `${userAgent} (probe)`

export function isProbeAgent(agent: string | undefined): boolean {
  return agent !== undefined && /^waypost\/\S+ \(probe\)$/.test(agent)
}

/** Whether this is a checkout of the sources rather than the published package. */
export const isSourceCheckout: boolean = existsSync(path.join(installation, 'src/index.ts'))

/** This module stands in `src/kit` of the sources, or in `dist/src/kit` of what was built from them. */
function findInstallation(): string {
  const candidates = ['../..', '../../..'].map((up) => path.resolve(import.meta.dirname, up))
  return candidates.find((folder) => existsSync(path.join(folder, 'package.json'))) ?? candidates[0]!
}

function readJson(name: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(path.join(installation, name), 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
