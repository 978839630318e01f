// Writes dist/vendor/: the client generator as one file, so that installing Waypost does not install its packages; and the
// licences and the bill of materials of all bundled packages.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { commonJs, packagesOf } from './bundle.ts'

/** @param bundled folders of the packages that are bundled with Waypost's own modules */
export async function writeVendor(root: string, folder: string, bundled: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const packages = await bundleClientGenerator(root, folder)
  describePackages(root, folder, [...new Set([...packages, ...bundled])].toSorted())
}

/** @returns the folders of the bundled packages */
async function bundleClientGenerator(root: string, folder: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: "export { generateSource } from 'oazapfts'", resolveDir: root },
    outfile: path.join(folder, 'client-generator.js'),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    metafile: true,
    banner: { js: commonJs },
  })
  return packagesOf(Object.keys(metafile.inputs))
}

interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly properties: readonly unknown[]
}

/**
 * Writes `LICENSES.txt` with the licences of packages, and `sbom.cdx.json`, a bill of materials in CycloneDX, in which
 * scanners look for known vulnerabilities.
 */
export function describePackages(root: string, folder: string, homes: readonly string[]): void {
  const packages = homes.map((home) => {
    const cwd = path.join(root, home)
    const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd })
    const text = file === undefined ? '' : `\n\n${readFileSync(path.join(cwd, file), 'utf8').trim()}`
    return { ...JSON.parse(readFileSync(path.join(cwd, 'package.json'), 'utf8')), text } as Package
  })
  const texts = packages.map(({ name, version, license, text }) => `${name} ${version}, ${license}${text}\n`)
  writeFileSync(path.join(folder, 'LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
  const refs = new Set(packages.map(({ name, version }) => `${name}@${version}`))
  const { components, dependencies, metadata, ...bom } = listPackages(root)
  const inside = components.filter((one) => refs.has(one['bom-ref']))
  const found = new Set(inside.map((one) => one['bom-ref']))
  const missing = [...refs].filter((ref) => !found.has(ref))
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`)
  const sbom = {
    ...bom,
    metadata: { component: { ...metadata.component, name: 'waypost' } },
    components: inside.map((one) => ({ ...one, properties: [] })), // that it is a devDependency of this repository
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  }
  writeFileSync(path.join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom)}\n`)
}

interface Package {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

interface Bom {
  readonly metadata: { readonly component: object }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

let listed: Bom | undefined

/** Without what differs from build to build. */
function listPackages(root: string): Bom {
  if (listed !== undefined) return listed
  const options = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--include=dev']
  const output = execFileSync('npm', options, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const { serialNumber: _serial, ...bom } = JSON.parse(output) as Bom & { readonly serialNumber: string }
  listed = bom
  return bom
}
