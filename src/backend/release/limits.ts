const mb = 1024 * 1024

/** How large what comes for a deployment may be, in bytes. */
export const releaseLimits = {
  /** One artifact: an action or a migration with what it bundles. */
  artifactBytes: 16 * mb,
  /** All artifacts of a release together. */
  releaseBytes: 64 * mb,
  /** The manifest, as JSON. */
  manifestBytes: 8 * mb,
  /** One upload, as JSON and unpacked: an artifact whose text is full of escapes still fits. */
  uploadBytes: 40 * mb,
  /** Everything that was uploaded and is in no release yet. */
  waitingBytes: 256 * mb,
} as const
