/** gRPC trailer with the FinishedStep[] of a traced call as JSON. */
export const stepsTrailer = 'tinkernetes-steps-bin';

/** Keeps the trailer well below gRPC's limit for metadata. */
export const maxSteps = 30;
