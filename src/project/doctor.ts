import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { installation, readJsonFile, type Clock, type Variables } from '../kit/index.ts'
import { checkHost, failure, runCheck, openReadOnly, withReadableVariables, type Finding } from '../operate/index.ts'
import type { Host } from '../host/index.ts'
import { checkEnvFiles } from './check-env-files.ts'
import { checkKinds, checkMigrations, checkProject, type CheckedProject } from './doctor-project.ts'

export interface DoctorOptions {
  readonly folder: string
  readonly variables: Variables
  /** The clock of this machine. */
  readonly clock?: Clock
}

export interface DoctorReport {
  /** Whether no check failed. */
  readonly ok: boolean
  readonly checks: readonly Finding[]
}

/** Checks this machine, the folder and its System. Changes nothing. */
export async function doctor(options: DoctorOptions): Promise<DoctorReport> {
  const checks: Finding[] = [checkNode()]
  const project = await checkProject(options.folder)
  checks.push(project.finding)
  if (project.isThere) checks.push(...checkEnvironment(options.folder))
  const { host, finding } = await openReadOnly(options)
  checks.push(finding)
  if (host !== undefined) {
    try {
      checks.push(...(await checkSystem(host, project, options.clock)))
    } catch (error) {
      checks.push(failure('system', error))
    } finally {
      await host.close()
    }
  }
  return { ok: checks.every(({ state }) => state !== 'fail'), checks }
}

async function checkSystem(opened: Host, { release, isThere }: CheckedProject, clock?: Clock): Promise<Finding[]> {
  const host = await withReadableVariables(opened)
  return [
    ...(release === undefined ? [] : [await runCheck('migrations', () => checkMigrations(host, release))]),
    ...(await checkHost(host, clock)),
    ...(isThere ? await checkKinds(host) : []),
  ]
}

function checkEnvironment(folder: string): readonly Finding[] {
  try {
    return checkEnvFiles(folder)
  } catch (error) {
    return [failure('env files', error)]
  }
}

function checkNode(): Finding {
  const { engines } = JSON.parse(readFileSync(path.join(installation, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const found = process.versions.node
  if (isAtLeast(found, engines.node.replace('>=', ''))) return { check: 'node', state: 'ok', message: `Node ${found}` }
  return {
    check: 'node',
    state: 'fail',
    message: `Node ${found}: Waypost requires ${engines.node}`,
    next: 'Install a newer version.',
  }
}

function isAtLeast(found: string, wanted: string): boolean {
  const [a, b] = [found, wanted].map((text) => text.split('.').map(Number))
  const at = [0, 1, 2].find((index) => (a![index] ?? 0) !== (b![index] ?? 0))
  return at === undefined || (a![at] ?? 0) > (b![at] ?? 0)
}

export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** An SPDX identifier or expression. */
  readonly licence: string
  readonly part: 'program' | 'pages'
}

/** Returns the packages that the build put into Waypost, by name; none in a checkout that was not built. */
export function readBillOfMaterials(): readonly BundledPackage[] {
  const read = (folder: string, part: BundledPackage['part']) => {
    const file = path.join(installation, 'dist', folder, 'sbom.cdx.json')
    const { components } = (existsSync(file) ? readJsonFile(file) : { components: [] }) as BillOfMaterials
    return components.map(({ name, version, licenses = [] }) => {
      const licence = licenses.map((one) => one.license?.id ?? one.license?.name ?? one.expression).join(', ')
      return { name, version, licence, part }
    })
  }
  return [...read('vendor', 'program'), ...read('ui', 'pages')].toSorted(
    (a, b) => Number(a.name > b.name) - Number(a.name < b.name) || Number(a.part < b.part) - Number(a.part > b.part),
  )
}

/** What we read of CycloneDX 1.5. */
interface BillOfMaterials {
  readonly components: readonly {
    readonly name: string
    readonly version: string
    readonly licenses?: readonly {
      readonly expression?: string
      readonly license?: { readonly id?: string; readonly name?: string }
    }[]
  }[]
}
