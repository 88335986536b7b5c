/** Token accounting where no server has counted yet: four bytes of JSON are taken for one token. */

export const BYTES_PER_TOKEN = 4;

export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);
