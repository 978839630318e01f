// Bundles what tsc compiled into few files: a command loads dozens of modules instead of more than a thousand. Entries keep their place
// in dist/, everything that they share goes to dist/chunks/. Source maps lead to the sources.
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

/** Modules that are started by themselves or imported by others than Waypost, beside the commands. */
const entries = [
  'bin/cli/launch.js',
  'src/index.js',
  'src/sql.js',
  'src/testing/index.js',
  'src/release/load-artifacts.js',
  'src/backend/release/body-worker.js',
  'src/build/check-modules-child.js',
]

/** Packages that stay packages: native code, code found by its path, or an identity that others share. */
const external = [
  '@opentelemetry/*',
  '@oclif/core',
  '@waypost/*',
  'esbuild',
  'pg-native',
  'pino', // starts workers from its own folder
  'typescript',
  '*vendor/client-generator.js',
]

// What packages in CommonJS expect around them.
export const commonJs =
  "import{createRequire as __createRequire}from'node:module';" +
  'const require=__createRequire(import.meta.url),__filename=import.meta.filename,__dirname=import.meta.dirname;'

/**
 * Bundles the compiled modules of a folder in place and removes those that went into a bundle.
 * @returns the folders of the packages that went into it
 */
export async function bundle(fresh: string): Promise<string[]> {
  const outdir = `${fresh}.bundle`
  const commands = globSync('commands/**/*.js', { cwd: fresh })
  const { metafile } = await build({
    absWorkingDir: fresh,
    entryPoints: [...entries, ...commands].map((file) => path.join(fresh, file)),
    outbase: fresh,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    chunkNames: 'chunks/[name]-[hash]',
    minifyWhitespace: true,
    minifySyntax: true,
    keepNames: true,
    sourcemap: true,
    metafile: true,
    logLevel: 'warning',
    external,
    banner: { js: commonJs },
  })
  for (const file of globSync('{bin,commands,src}/**/*.{js,js.map}', { cwd: fresh })) rmSync(path.join(fresh, file))
  dropPackageSources(outdir)
  cpSync(outdir, fresh, { recursive: true })
  rmSync(outdir, { recursive: true })
  return packagesOf(Object.keys(metafile.inputs))
}

/** The folders of the packages that files are in. */
export function packagesOf(files: readonly string[]): string[] {
  const homes = files.flatMap((file) => /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return [...new Set(homes)].toSorted()
}

/** Takes the text of packages out of the maps, which would be most of the published package, and maps of packages alone. */
function dropPackageSources(folder: string): void {
  for (const name of globSync('**/*.js.map', { cwd: folder })) {
    const file = path.join(folder, name)
    const map = JSON.parse(readFileSync(file, 'utf8')) as SourceMap
    const isOurs = map.sources.map((source) => !source.includes('node_modules/'))
    if (isOurs.includes(true)) {
      const sourcesContent = map.sourcesContent.map((text, index) => (isOurs[index] ? text : null))
      writeFileSync(file, JSON.stringify({ ...map, sourcesContent }))
    } else {
      rmSync(file)
      const script = file.slice(0, -'.map'.length)
      writeFileSync(script, readFileSync(script, 'utf8').replace(/\/\/# sourceMappingURL=\S+\s*$/, ''))
    }
  }
}

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent: readonly (string | null)[]
}
