import path from 'node:path'

const text = (type: string) => `${type}; charset=utf-8`

/** The media types of what websites consist of, by the end of a file's name. */
const types: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': text('text/css'),
  '.csv': text('text/csv'),
  '.gif': 'image/gif',
  '.htm': text('text/html'),
  '.html': text('text/html'),
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': text('text/javascript'),
  '.json': 'application/json',
  '.map': 'application/json',
  '.md': text('text/markdown'),
  '.mjs': text('text/javascript'),
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.oga': 'audio/ogg',
  '.ogg': 'audio/ogg',
  '.otf': 'font/otf',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.txt': text('text/plain'),
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
}

/** Returns the media type of a file by its name. */
export function contentTypeOf(name: string): string {
  const end = path.posix.extname(name).toLowerCase()
  return Object.hasOwn(types, end) ? types[end]! : 'application/octet-stream'
}
